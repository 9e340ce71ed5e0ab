// The script of the view of the last creates, newest first.

import { cell, element, follow, mark, timeOf } from './browse.js'
import { create, isolated } from './page.js'

const list = element('newest-rows')

// newRow returns the row of a create. Those before the page are not new.
function newRow({ number, time, subject, plant }, before) {
  const row = create('tr', { seen: before ? -Infinity : performance.now() },
    create('td', { className: 'time' }, timeOf(time)),
    create('th', { scope: 'row', textContent: plant.id }), cell('', plant.name), cell('tag', plant.tag),
    create('td', { className: 'who' }, isolated(subject ?? '')))
  row.dataset.id = plant.id
  row.dataset.number = number
  return row
}

function drawn() {
  for (const row of list.children) mark(row, row.children[2], row.seen)
  element('newest-none').hidden = list.children.length > 0
}

follow('newest', { path: 'page/creates', list, most: 100, what: 'plant', newRow, drawn })
