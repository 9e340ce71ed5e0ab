// The script of the view of the last creates, newest first.

import { cell, element, follow, mark, say, works } from './browse.js'
import { create, isolated, request } from './page.js'

const mostShown = 100
const announceTime = 10_000 // ms between announcements

let last = 0 // the number of the newest create
let announced = -announceTime
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })

function newRow({ number, time, subject, plant }, seen) {
  const row = create('tr', { seen },
    create('td', { className: 'time' }, create('time', { dateTime: time, textContent: clock.format(new Date(time)) })),
    create('th', { scope: 'row', textContent: plant.id }), cell('', plant.name), cell('tag', plant.tag),
    create('td', { className: 'who' }, isolated(subject ?? '')))
  row.dataset.id = plant.id
  row.dataset.number = number
  return row
}

async function poll() {
  const creates = await request('page/creates', { after: last, wait: '1s' })
  const rows = element('newest-rows')
  const known = last
  if (creates[0]?.number <= last) rows.replaceChildren() // of another server
  for (const made of creates) {
    rows.prepend(newRow(made, known === 0 ? -Infinity : performance.now())) // those before the page are not new
    last = made.number
  }
  while (rows.children.length > mostShown) rows.lastChild.remove()
  for (const row of rows.children) mark(row, row.children[2], row.seen)
  element('newest-none').hidden = rows.children.length > 0
  works('newest')
  if (creates.length === 0 || performance.now() - announced < announceTime) return
  say(`The latest plant: ${rows.firstChild.innerText}`)
  announced = performance.now()
}

follow('newest', poll)
