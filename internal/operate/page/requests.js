// The script of the view of requests. What clients have sent is untrusted: it becomes text nodes.

import { element, follow, info, say, timeOf } from './browse.js'
import { create, curl, isolated } from './page.js'

const phrases = { 200: 'OK', 204: 'No Content', 302: 'Found', 304: 'Not Modified', 400: 'Bad Request' }
const list = element('received')

// --- rows

function newRow(r) {
  const row = create('li', { className: r.error ? 'failed' : r.notes ? 'noted' : '' })
  const details = create('div', { className: 'sides', hidden: true })
  const button = create('button', { type: 'button', className: 'row' },
    timeOf(r.time),
    create('span', { className: 'outcome', textContent: r.error ? `Error ${r.error}` : r.status }),
    create('span', { className: 'what' }, isolated(r.method ? `${r.method} ${r.target}` : 'header refused')),
    create('span', { className: 'why' }, isolated([r.message ?? (r.plant_id ? `id ${r.plant_id}` : ''), ...r.notes?.map(note => `note: ${note}`) ?? []].join('; '))),
    create('span', { className: 'who' }, isolated(r.subject ?? '')))
  button.setAttribute('aria-expanded', 'false')
  button.addEventListener('click', () => {
    details.hidden = !details.hidden
    button.setAttribute('aria-expanded', String(!details.hidden))
    if (!details.hidden) details.replaceChildren(requestSide(r), responseSide(r))
  })
  row.dataset.number = r.number
  row.text = [...[...button.children].map(part => part.textContent), ...r.lines, r.body].join(' ').toLowerCase()
  row.append(button, details)
  return row
}

function requestSide(r) {
  const side = create('section', {}, create('h2', { textContent: 'Request' }))
  if (!r.method) {
    side.append('It was refused before its header was complete or valid.')
    return side
  }
  side.append(create('pre', { tabIndex: 0 }, ...r.lines.map(line =>
    create(line.startsWith('> ') ? 'mark' : 'span', { className: 'line' }, isolated(line)))))
  const copy = create('button', { type: 'button', textContent: 'Copy as curl' })
  copy.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(curl(info.base_url, r))
      say('The command is copied.')
      copy.textContent = 'Copied; it needs $TOKEN'
    } catch { // the browser does not allow it
      copy.replaceWith(create('pre', { tabIndex: 0, textContent: curl(info.base_url, r) }))
    }
  })
  side.append(copy)
  return side
}

function responseSide(r) {
  const shown = Object.entries({
    Status: `${r.status} ${phrases[r.status] ?? ''}`, Error: r.error, Message: r.message, 'Plant id': r.plant_id, Subject: r.subject,
    'Request id': r.request_id, Took: `${r.duration_ms} ms`, Client: r.remote, Number: r.number,
  }).filter(([, value]) => value)
  return create('section', {}, create('h2', { textContent: 'Response' }), create('dl', {},
    ...shown.flatMap(([name, value]) => [create('dt', { textContent: name }), create('dd', {}, isolated(String(value)))])))
}

// --- the list

function filter() {
  const text = element('text').value.trim().toLowerCase()
  const rows = [...list.children]
  for (const row of rows) row.hidden = !row.text.includes(text) || element('errors').checked && row.className !== 'failed'
  const shown = rows.some(row => !row.hidden)
  element('requests-none').hidden = rows.length > 0
  element('none').hidden = rows.length === 0 || shown
  element('heads').hidden = !shown
}

for (const id of ['text', 'errors']) element(id).addEventListener('input', filter)
element('filter').addEventListener('submit', event => event.preventDefault())
filter()
follow('requests', { path: 'page/requests', list, most: 200, what: 'request', newRow, drawn: filter })
