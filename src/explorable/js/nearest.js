// The index of the number nearest to a value; the first of two.

export function nearest(numbers, value) {
  return numbers.reduce((best, number, i) => (Math.abs(number - value) < Math.abs(numbers[best] - value) ? i : best), 0);
}
