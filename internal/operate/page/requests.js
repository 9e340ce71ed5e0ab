// The script of the view of requests. What clients have sent is untrusted: it becomes text nodes.

import { baseURL, create, element, hasKey, isLive, isolated, pause, request, say, special } from './browse.js'

const mostShown = 200
const announceTime = 10_000 // ms between announcements
const phrases = { 200: 'OK', 204: 'No Content', 302: 'Found', 304: 'Not Modified', 400: 'Bad Request' }

let last = 0 // the number of the newest request
let announced = -announceTime

const isShown = () => location.hash === '#requests'
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })

// --- the command

// quoted returns text as one word of a shell. Characters that act on a terminal are escaped.
function quoted(text) {
  if (!special.test(text)) return `'${text.replaceAll("'", String.raw`'\''`)}'`
  const bytes = part => [...new TextEncoder().encode(part)].map(byte => String.raw`\x${byte.toString(16).padStart(2, '0')}`).join('')
  return `$'${text.split(special).filter(Boolean).map(part => special.test(part) ? bytes(part) : part.replace(/[\\']/g, String.raw`\$&`)).join('')}'`
}

// curl returns a command that sends the request again, with the token in $TOKEN.
function curl(r) {
  const plain = /^\/[\w~%?=&+,:@/-]*$/.test(r.target)
  const words = ['curl -sS', plain ? quoted(baseURL + r.target) : `--request-target ${quoted(r.target)} ${quoted(baseURL)}`]
  words.push(r.method === 'HEAD' ? '--head' : `-X ${quoted(r.method)}`)
  if (r.version === 'HTTP/1.0') words.push('--http1.0')
  const sent = name => r.header.find(field => field.name.toLowerCase() === name)?.value
  for (const { name, value } of r.header) {
    const lower = name.toLowerCase()
    if (['host', 'content-length', 'connection', 'accept-encoding'].includes(lower)) continue // curl sends its own
    if (lower === 'authorization') words.push(`-H ${quoted(`${name}: ${value.replace(/\(.*/s, '')}`)}"$TOKEN"`) // with its outcome in parentheses
    else words.push(`-H ${quoted(value ? `${name}: ${value}` : `${name};`)}`)
  }
  const unread = r.body_unread ? Number(sent('content-length')) : 0
  if ((r.body || unread) && sent('content-type') === undefined) words.push("-H 'Content-Type:'")
  if (r.body) words.push(`--data-raw ${quoted(r.body)}`)
  if (unread) words.push('--data-binary @-')
  return `${unread ? `head -c ${unread} /dev/zero | ` : ''}${words.join(' ')}`
}

// --- rows

function newRow(r) {
  const row = create('li', { className: r.error ? 'failed' : '' })
  const details = create('div', { className: 'sides', hidden: true })
  const button = create('button', { type: 'button' },
    create('time', { dateTime: r.time, textContent: clock.format(new Date(r.time)) }),
    create('span', { className: 'outcome', textContent: r.error ?? r.status }),
    create('span', { className: 'what' }, isolated(r.method ? `${r.method} ${r.target}` : 'header refused')),
    create('span', { className: 'why' }, isolated(r.message ?? (r.plant_id ? `id ${r.plant_id}` : ''))),
    create('span', { className: 'who' }, isolated(r.subject ?? '')))
  button.setAttribute('aria-expanded', 'false')
  button.addEventListener('click', () => {
    details.hidden = !details.hidden
    button.setAttribute('aria-expanded', String(!details.hidden))
    if (!details.hidden) details.replaceChildren(requestSide(r), responseSide(r))
  })
  row.dataset.number = r.number
  row.text = JSON.stringify(r).toLowerCase()
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
      await navigator.clipboard.writeText(curl(r))
      say('The command is copied.')
      copy.textContent = 'Copied; it needs $TOKEN'
    } catch { // the browser does not allow it
      copy.replaceWith(create('pre', { tabIndex: 0, textContent: curl(r) }))
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
  const rows = [...element('received').children]
  for (const row of rows) row.hidden = !row.text.includes(text) || element('errors').checked && row.className !== 'failed'
  element('none').hidden = rows.some(row => !row.hidden) && !element('none').dataset.problem
  element('none').textContent = element('none').dataset.problem || (rows.length > 0 ? 'No request matches.' : 'No requests yet.')
}

async function poll() {
  const found = await request('page/requests', { after: last, wait: '3s' })
  if (found[0]?.number <= last || last === 0) element('received').replaceChildren() // of another server
  element('none').dataset.problem = ''
  const list = element('received')
  for (const r of found) {
    list.prepend(newRow(r))
    last = r.number
  }
  while (list.children.length > mostShown) list.lastChild.remove()
  filter()
  if (found.length === 0 || performance.now() - announced < announceTime) return
  say(`The latest request: ${list.querySelector('button').innerText}`)
  announced = performance.now()
}

// follow requests what is new, for which the server waits.
async function follow() {
  for (;;) {
    try {
      if (isShown() && isLive() && hasKey() && !document.hidden) await poll()
      await pause(200)
    } catch (problem) {
      last = 0
      element('none').dataset.problem = problem.code === 503 ? problem.message : '' // the view of plants reports others
      filter()
      await pause(1000)
    }
  }
}

function choose() {
  element('plants').hidden = isShown()
  element('requests').hidden = !isShown()
  for (const link of document.querySelectorAll('.views a')) {
    link.setAttribute('aria-current', (link.hash === '#requests') === isShown() ? 'page' : 'false')
  }
}

for (const id of ['text', 'errors']) element(id).addEventListener('input', filter)
element('filter').addEventListener('submit', event => event.preventDefault())
addEventListener('hashchange', choose)
choose()
follow()
