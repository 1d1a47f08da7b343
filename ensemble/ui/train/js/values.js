// What all curves of the same split are worth where the pointer is: a table in the pointer's panel.

// The curves beside the one that is meant, in the legend's order: [label, value in words, curve].
// Of members that share one look the lowest and the highest stand for all.
function valuesBeside(chart, panel, { line: meant, i }) {
  const at = shownLines(panel, chart.state).filter((line) => line.split === meant.split)
    .map((line) => ({ line, value: line.y[closest(line.x, meant.x[i])] }))
    .filter(({ value }) => value !== null && value !== undefined)
  const rows = []
  for (const { group, label } of [...chart.data.legend, { group: 'pairs', label: 'mean pair' }]) {
    const values = at.filter(({ line }) => line.group === group).map(({ value }) => value)
    if (!values.length) continue
    const ends = [Math.min(...values), Math.max(...values)].map((value) => spoken(panel, value))
    rows.push([label, ends[0] === ends[1] ? ends[0] : ends.join(' to '), group])
  }
  return rows
}

function tellOthers(chart, panel, hit) {
  const rows = valuesBeside(chart, panel, hit)
  if (rows.length < 2) return
  const table = document.createElement('table')
  for (const [label, value, group] of rows) {
    const row = table.insertRow()
    row.className = group === hit.line.group ? 'meant' : ''
    const entry = chart.data.legend.find((item) => item.group === group)
    if (entry) sampleOf(node(row.insertCell(), 'svg', { width: sampleWidth(entry), height: 12 }), entry, 0, 6)
    else row.insertCell()
    row.insertCell().textContent = label
    row.insertCell().textContent = value
  }
  chart.tip.append(table)
}
