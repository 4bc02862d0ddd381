// The words of a matrix's rows and columns.

// Those of both sides, null where they have numbers.
export const matrixWords = ({ row_words, column_words }, view) =>
  [row_words, column_words].map((slot) => (slot ? view.at(slot).split(" ") : null));

// Where a picked cell is, in words.
export function cellName({ rows, columns }, [rowWords, columnWords], { row, column }, { comma }) {
  const naming = (name, number, listed) => (listed ? `${name} ${number}: ${listed[number - 1]}` : `${name} = ${number}`);
  return [naming(rows, row, rowWords), naming(columns, column, columnWords)].join(comma);
}
