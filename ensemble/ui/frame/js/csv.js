// A CSV file as `ensemble.storage.csv_cells` writes it: a text that begins like a formula gets an
// apostrophe before it, for spreadsheets run it, and line ends are of one kind.
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/  // the last four are full-width
const NUMBER = /^([+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|[+-]?(inf|nan))$/i

function csvCell(value) {
  let text = String(value ?? '')
  if (typeof value === 'string') {
    if (FORMULA.test(text) && !NUMBER.test(text)) text = `'${text}`
    text = text.replace(/\r\n?/g, '\n')
  }
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function csvOf(rows) {
  return rows.map((row) => row.map(csvCell).join(',') + '\n').join('')
}
