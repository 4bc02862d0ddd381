// The words that every figure needs besides its own, in both languages of the book.

export const WORDS = {
  zh: {
    more: "更多设置",
    none: "恰为 0：没有通路",
    failed: "这幅图的数据没有完整到达，下面是它的静态画面。重新加载页面可以再试一次。",
    unable: "这个浏览器太旧，无法让图动起来，下面是它的静态画面。换一个较新的浏览器就能拖动滑块。",
    foreign: "这个控件需要正在运行的内核，在网页上不能用。请在 JupyterLab 中打开本页。",
  },
  en: {
    more: "More settings",
    none: "exactly 0: no path",
    failed: "The data of this figure did not arrive whole, so here is a still picture of it. Reload the page to try again.",
    unable: "This browser is too old to move the figure, so here is a still picture of it. A newer one lets you move the sliders.",
    foreign: "This control needs a running kernel and does not work on a web page. Open the page in JupyterLab.",
  },
};

export function wordsOf(language) {
  return language.startsWith("zh") ? WORDS.zh : WORDS.en;
}
