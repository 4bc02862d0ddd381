// How a number is written; numbers.py does the same, and a test compares the two.

const DIGITS = 4; // at most: three, and four of a number between 1000 and 9999, such as a length of 1024
const TIE = 1e-9; // so that halves are rounded up by all machines, whose powers differ in the last bit
const ROUNDING = 1e-15; // of its size a whole number may be off, for frames keep multiples of a step
const SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

// 10^power, as axes write it: 10⁻⁴⁰.
export function powerOfTen(power) {
  return "10" + [...String(power)].map((letter) => SUPERSCRIPTS[letter]).join("");
}

// mantissa·10^power, 1 ≤ mantissa < 10, with the digits kept: a plain number where the power is between two others.
function digitsText(mantissa, power, kept, [least, most]) {
  let digits = Math.floor(mantissa * 10 ** (kept - 1) + 0.5 + TIE);
  if (digits === 10 ** kept) [digits, power] = [digits / 10, power + 1]; // 9.996 is 10.0
  if (least <= power && power <= most) return String(Number(`${digits}e${power - kept + 1}`));
  const first = String(Number(`${digits}e${1 - kept}`));
  return first === "1" ? powerOfTen(power) : `${first}×${powerOfTen(power)}`;
}

// The number 10^log10 with so many digits: 1024, 0.62, 3.36×10⁷; −∞ is an exact 0. ≈ says of one digit that it is not
// even sure.
export function powerText(log10, digits) {
  if (log10 === -Infinity) return "0";
  const power = Math.floor(log10);
  const kept = power === 3 ? digits : Math.min(digits, 3);
  const about = digits === 1 ? "≈" : "";
  return about + digitsText(10 ** (log10 - power), power, kept, [-2, digits - 1]);
}

// A number: a whole one up to 10¹⁵ with all its digits, any other with four; −∞ as it stands.
export function numberText(number) {
  if (number === -Infinity) return "−∞";
  const [sign, size] = [number < 0 ? "−" : "", Math.abs(number)];
  const whole = Math.floor(size + 0.5);
  if (size <= 1e15 && Math.abs(size - whole) <= ROUNDING * size) return sign + String(whole);
  const log10 = Math.log10(size);
  const power = Math.floor(log10);
  return sign + digitsText(10 ** (log10 - power), power, DIGITS, [-4, DIGITS - 1]);
}

// A number of an axis, as read-outs and tables write it: as precisely as the frames keep it. A 0 is an exact 0, for what
// is not 0 is kept as a step at least.
export function amountText(value, axis) {
  if (axis.log10) return powerText(value, axis.digits);
  const least = axis.least !== null && value !== 0 && Math.abs(value) < 1.5 * axis.least;
  return least ? `${value < 0 ? ">−" : "<"}${numberText(2 * axis.least)}` : numberText(value);
}
