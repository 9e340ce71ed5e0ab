// The script of the page, and of its view of plants by id. Ids are strings and BigInt, since numbers are exact
// up to 2^53 only. Names and tags are untrusted: they become text nodes, never HTML.

import { create, hasKey, isolated, request, setKey } from './page.js'

const lowest = '-9223372036854775808'
const highest = '9223372036854775807'
const pageSize = 50
const keyItem = 'plantstore-key'
const chartTime = 120_000 // ms that the chart shows
const freshTime = 6000 // ms for which a new plant is marked
const announceTime = 10_000 // ms between announcements

export const element = id => document.getElementById(id)
export const pause = ms => new Promise(done => setTimeout(done, ms))
const number = new Intl.NumberFormat('en')
const few = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
export const counted = (n, one, many) => `${number.format(n)} ${n === 1 ? one : many}`

export let info = {} // about the server
let view = { from: lowest, descending: false, name: '' }
let page = { plants: [], next: '' } // plants in the direction of the view, and where they continue
let turn = 0 // of the last view that was requested: responses for earlier ones are dropped
const fresh = new Map() // when the plants of the shown page that are new were seen, by id
let samples = [] // counts, the newest last
let refreshed // the count when the shown page was requested
const problems = new Map() // what does not work, by what it concerns

// --- the key

// takeKey takes the key from the fragment of the URL, and removes it there.
function takeKey() {
  const found = /^#key=([A-Za-z0-9]+)$/.exec(location.hash)
  if (found) {
    setKey(found[1])
    history.replaceState(null, '', location.pathname)
  }
  try { // a reload has no fragment
    if (found) sessionStorage.setItem(keyItem, found[1])
    else setKey(sessionStorage.getItem(keyItem) ?? '')
  } catch { /* storage may be disabled */ }
}

// --- messages

function problem(about, message) {
  problems.set(about, message)
  const text = [...new Set(problems.values())].join(' ').trim()
  if (element('problem').textContent !== text) element('problem').textContent = text
  element('problem').hidden = !text
  document.body.classList.toggle('stale', Boolean(text))
  drawLive()
}

function note(message) {
  element('note').textContent = message
  element('note').hidden = !message
}

export function say(message) { element('said').textContent = message }

// --- views

export const shownView = () => location.hash.slice(1) || (info.base_url ? 'newest' : 'all')

// choose shows the view of the fragment. A server keeps its last creates, and an ephemeral one requests.
function choose() {
  const available = { newest: Boolean(info.base_url), all: true, requests: Boolean(info.ephemeral) }
  const shown = available[shownView()] ? shownView() : available.newest ? 'newest' : 'all'
  for (const link of document.querySelectorAll('.views a')) {
    const name = link.hash.slice(1)
    link.hidden = !available[name]
    link.setAttribute('aria-current', name === shown ? 'page' : 'false')
    element(`view-${name}`).hidden = name !== shown
  }
  element('now').hidden = shown === 'requests'
  for (const example of document.querySelectorAll('.example')) {
    example.textContent = `curl ${info.base_url}/plants -H "Authorization: Bearer $(${info.token_command ?? 'plantstore token'})" --json '{"id": 1, "name": "Monstera"}'`
  }
  element('base').textContent = info.base_url ?? ''
}

// --- rows

export function cell(className, shown) {
  const quiet = textContent => create('span', { className: 'quiet', textContent })
  if (!shown?.text) return create('td', { className }, quiet(shown ? 'empty' : 'none'))
  const all = shown.bytes ? [quiet(`… ${counted(shown.bytes, 'byte', 'bytes')} in all`)] : []
  return create('td', { className }, isolated(shown.text), ...all)
}

function newRow(plant) {
  const row = create('tr', {}, create('th', { scope: 'row', textContent: plant.id }), cell('', plant.name), cell('tag', plant.tag))
  row.dataset.id = plant.id
  row.dataset.shown = JSON.stringify(plant)
  return row
}

function corruptRow(corrupt) {
  return create('tr', {}, create('td', { className: 'corrupt', colSpan: 3 },
    corrupt.id ? `The plant with the id ${corrupt.id} cannot be read: ` : 'More plants cannot be read: ', isolated(corrupt.error),
    '. The command plantstore check reports all such plants.'))
}

// mark marks a row as new for a time, from when it was seen on.
export function mark(row, name, seen) {
  const isFresh = performance.now() - seen < freshTime
  if (isFresh === row.classList.contains('fresh')) return
  row.classList.toggle('fresh', isFresh)
  if (isFresh) name.append(create('span', { className: 'badge', textContent: 'new' }))
  else row.querySelector('.badge').remove()
}

const ascending = list => view.descending ? list.toReversed() : list

// draw shows the plants. Rows that stay are not touched, so that a selection stays, too.
function draw() {
  const body = element('rows')
  const present = new Map([...body.children].map(row => [row.dataset.shown, row]))
  const corrupt = page.corrupt ? [corruptRow(page.corrupt)] : []
  const rows = ascending([...page.plants.map(plant => present.get(JSON.stringify(plant)) ?? newRow(plant)), ...corrupt])
  rows.forEach((row, i) => { if (body.children[i] !== row) body.insertBefore(row, body.children[i] ?? null) })
  while (body.children.length > rows.length) body.lastChild.remove()
  markRows()
  element('empty').hidden = rows.length > 0 || page.searching
  element('empty').textContent = view.name ? 'No plant here has a name that begins like this.' : 'There are no plants here. Clients create them with POST /plants; plantstore plants import imports a file.'
  drawPager()
}

function markRows() {
  for (const row of element('rows').children) if (row.dataset.id) mark(row, row.children[1], fresh.get(row.dataset.id) ?? -Infinity)
}

// before and after return the view of the page before or after the shown one, undefined at the end.
const before = () => step(true, view.from !== lowest && String(BigInt(view.from) - 1n))
const after = () => step(false, view.from !== highest && String(BigInt(view.from) + 1n))

function step(descending, beside) {
  const from = view.descending === descending ? page.next : page.plants.length > 0 || page.corrupt ? beside : ''
  return from ? { from, descending, name: view.name } : undefined
}

function drawPager() {
  const enable = (id, enabled) => element(id).setAttribute('aria-disabled', String(!enabled || page.searching))
  enable('first', view.from !== lowest)
  enable('previous', before())
  enable('next', after())
  enable('last', after())
  const plants = ascending(page.plants)
  const [first, last] = [plants[0]?.id, plants.at(-1)?.id]
  element('range').textContent = first === last ? first ? `Id ${first}` : '' : `Ids ${first} to ${last}`
  element('progress').hidden = !view.name
  element('searched').textContent = view.name ? progress() : ''
}

function progress() {
  const all = samples.at(-1)
  const end = page.searching ? '…' : page.next ? `. It goes on ${view.descending ? 'down ' : ''}from id ${page.next}.` : '. That is the end.'
  const where = view.descending ? view.from === highest ? ' from the last one down' : ` from id ${view.from} down` : view.from === lowest ? '' : ` from id ${view.from} on`
  return `Searched ${number.format(page.searched)}${all ? ` of ${number.format(all.plants)}` : ''} plants${where}: ${number.format(page.plants.length)} found${end}`
}

// --- pages

// read requests the plants of a view, in parts, since the server reads for a short time at once. It
// passes what it has so far to each, which returns whether to continue.
async function read(wanted, each) {
  const found = { plants: [], next: wanted.from, searched: 0 }
  do {
    const part = await request('page/plants', { from: found.next, descending: wanted.descending, name: wanted.name })
    found.plants.push(...part.plants)
    found.searched += part.searched
    found.next = found.plants[pageSize]?.id ?? part.next
    found.plants.splice(pageSize)
    found.corrupt = part.corrupt ?? found.corrupt
    found.searching = Boolean(part.next) && found.plants.length < pageSize && !(found.corrupt && !wanted.name)
    if (!each(found)) return
    if (found.searching) await pause(100) // a server that starts can lock the file
  } while (found.searching)
}

// show requests the plants of a view and shows them. A page that goes down to the first plant is the first page.
async function show(next) {
  const mine = ++turn
  const count = samples.at(-1)?.plants
  try {
    await read(next, found => {
      if (mine !== turn) return false
      if (next.descending && !found.next && !found.searching) {
        begin(next.name)
        return false
      }
      if (next.target) next.target = next.from = String(BigInt(next.target)) // as the server writes it
      ;[view, page, refreshed] = [next, found, count]
      fresh.clear()
      problem('plants', '')
      noteTarget()
      draw()
      return true
    })
    if (mine !== turn) return
    say([element('note').textContent, view.name ? progress() : `${counted(page.plants.length, 'plant', 'plants')}.`, element('range').textContent].join(' ').trim())
  } catch (error) {
    if (mine === turn) refused(error)
  }
}

// refused shows an error: an error of the input next to it, any other as a problem.
function refused(error) {
  page.searching = false
  drawPager()
  if (error.code !== 400) return problem('plants', error.message)
  element('id').setAttribute('aria-invalid', 'true')
  note(error.message)
  say(error.message)
}

function noteTarget() {
  element('id').removeAttribute('aria-invalid')
  const missing = view.target && ![page.plants[0]?.id, page.corrupt?.id].includes(view.target)
  note(missing ? `No plant has the id ${view.target}. These plants have the next higher ids.` : '')
}

function begin(name = '') { return show({ from: lowest, descending: false, name }) }

// refresh requests the shown plants again when the count has changed, or is old.
async function refresh() {
  markRows()
  const count = samples.at(-1)
  if (problems.get('plants') && !view.name) return show(view)
  if (element('view-all').hidden || !isLive() || view.name || !count || count.plants === refreshed && performance.now() - count.at < 3000) return
  const shown = view
  try {
    let again = page
    await read(view, found => (again = found, view === shown))
    if (view !== shown || page.searching) return
    const known = new Set(page.plants.map(plant => plant.id))
    for (const plant of again.plants) if (!known.has(plant.id)) fresh.set(plant.id, performance.now())
    ;[page, refreshed] = [again, count.plants]
    draw()
  } catch (error) {
    if (view === shown) refused(error)
  }
}

// --- count and chart

async function count() {
  info = await request('count')
  const at = performance.now()
  samples = [...samples.filter((_, i) => i === samples.length - 1 || at - samples[i + 1].at < chartTime), { plants: info.plants, at }]
  element('source').textContent = info.place
  element('count').textContent = number.format(info.plants)
  document.title = counted(info.plants, 'plant', 'plants')
  choose()
}

// rate returns the creates per second between two samples.
const rate = (a, b) => Math.max(0, (b.plants - a.plants) * 1000 / Math.max(1, b.at - a.at))

function drawChart() {
  const b = samples.at(-1)
  if (!b) return
  const age = sample => (performance.now() - sample.at) / 1000
  element('count-unit').textContent = (b.plants === 1 ? 'plant' : 'plants') + (age(b) > 10 ? `, ${Math.round(age(b))} seconds ago` : '')
  const bars = samples.slice(1).map((sample, i) => ({ from: age(samples[i]), to: age(sample), rate: rate(samples[i], sample) }))
  const peak = Math.max(0, ...bars.map(bar => bar.rate))
  element('figure').hidden = peak === 0
  element('chart').replaceChildren(...bars.filter(bar => bar.rate > 0).map(bar => {
    const rect = document.createElementNS('http://www.w3.org/2000/svg', 'rect')
    const height = Math.max(0.6, 39 * bar.rate / peak)
    const x = Math.max(0, 120 - bar.from)
    const shape = { x, y: 40 - height, width: Math.max(0.1, 120 - bar.to - x - 0.15), height }
    for (const [name, value] of Object.entries(shape)) rect.setAttribute(name, value.toFixed(2))
    return rect
  }))
  if (bars.length === 0) return
  const format = rate => rate >= 10 ? number.format(Math.round(rate)) : few.format(rate)
  const now = format(rate(samples.findLast(sample => b.at - sample.at >= 2500) ?? samples[0], b)) // of the last seconds
  element('rate').textContent = now
  element('peak').textContent = `at most ${format(peak)} per second`
  element('chart').setAttribute('aria-label', `Creates per second in the last two minutes: now ${now}, at most ${format(peak)}`)
}

// --- controls

export const isLive = () => element('live').getAttribute('aria-checked') === 'true'

function drawLive() { element('live-text').textContent = !isLive() ? 'Paused' : element('problem').hidden ? 'Live' : 'Offline' }

// repeat calls an action each second, less often if it takes long: some stores read all plants to
// count them. What fails after a long wait for a lock is repeated soon.
async function repeat(action) {
  for (;;) {
    const began = performance.now()
    let wait = 1000
    if (!document.hidden && hasKey()) {
      try {
        await action()
        if (!problems.get('plants')) wait = Math.max(wait, 20 * (performance.now() - began))
        problem(action.name, '')
      } catch (error) {
        problem(action.name, error.message)
      }
      drawChart()
    }
    await pause(wait)
  }
}

// follow shows the last values of a path, newest first, while its view is shown and live. The server waits for
// what is new. A value becomes a row of the list; drawn is called after each change.
export async function follow(name, { path, list, most, what, newRow, drawn }) {
  let last = 0 // the number of the newest value
  let server // when it started: another one counts from 1 again
  let announced = -announceTime
  for (;;) {
    let wait = 200
    try {
      if (!element(`view-${name}`).hidden && isLive() && hasKey() && !document.hidden) await poll()
    } catch (error) {
      problem(name, error.code === 403 ? '' : error.message) // no server runs, or another one
      wait = 1000
    }
    await pause(wait)
  }

  async function poll() {
    if (server !== info.started) last = 0
    server = info.started
    const values = await request(path, { after: last, wait: '1s' })
    if (server !== info.started) return
    const first = last === 0
    if (first) list.replaceChildren()
    while (list.lastChild?.dataset.number <= info.removed?.[name]) list.lastChild.remove() // by a reset
    for (const value of values) {
      list.prepend(newRow(value, first))
      last = value.number
    }
    while (list.children.length > most) list.lastChild.remove()
    drawn()
    problem(name, '')
    if (values.length === 0 || performance.now() - announced < announceTime) return
    say(`The latest ${what}: ${list.firstChild.innerText}`)
    announced = performance.now()
  }
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })
export const timeOf = dateTime => create('time', { dateTime, textContent: clock.format(new Date(dateTime)) })

function onClick(id, action) {
  element(id).addEventListener('click', () => {
    if (element(id).getAttribute('aria-disabled') !== 'true') action()
  })
}

function onSubmit(id, action) {
  element(id).addEventListener('submit', event => {
    event.preventDefault()
    action()
  })
}

function start() {
  takeKey()
  problem('key', hasKey() ? '' : 'This page needs the link that plantstore plants browse has printed, with its key.')
  if (hasKey()) begin()
}

onClick('first', () => begin(view.name))
onClick('previous', () => show(before()))
onClick('next', () => show(after()))
onClick('last', () => show({ from: highest, descending: true, name: view.name }))
onClick('clear', () => {
  element('name').value = ''
  begin()
})
onClick('live', () => {
  element('live').setAttribute('aria-checked', String(!isLive()))
  drawLive()
})
onSubmit('by-id', () => {
  const target = element('id').value.trim()
  element('name').value = ''
  if (target) show({ from: target, target, descending: false, name: '' })
  else begin()
})
onSubmit('by-name', () => begin(element('name').value))
addEventListener('hashchange', () => {
  if (location.hash.startsWith('#key=')) start()
  choose()
})
start()
repeat(count)
repeat(refresh)
