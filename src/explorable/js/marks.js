// Marks: the shape that tells a series apart where colour does not. Paths around the place they mark, about 7 px wide.

export const MARKS = {
  circle: "m-3,0a3,3 0 1,0 6,0a3,3 0 1,0 -6,0z",
  square: "m-3,-3h6v6h-6z",
  triangle: "m0,-3.6l3.6,6.4h-7.2z",
  wedge: "m0,3.6l3.6,-6.4h-7.2z",
  diamond: "m0,-4l4,4l-4,4l-4,-4z",
  cross: "m-3,-3l6,6m-6,0l6,-6",
};
