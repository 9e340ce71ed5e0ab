// The script of the page: it requests plants and counts, and shows them. Ids are strings and
// BigInt, since numbers are exact up to 2^53 only. Names and tags are untrusted: they become
// text nodes, never HTML.

const lowest = '-9223372036854775808'
const highest = '9223372036854775807'
const freshTime = 6000 // ms for which a new plant is marked
const announceTime = 10_000 // ms between announcements of new plants
const keyItem = 'plantstore-key'

const element = id => document.getElementById(id)
const number = new Intl.NumberFormat('en')
const few = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

let key = ''
let view = { order: 'desc', param: 'through', id: highest }
let page = { plants: [], before: false, after: false }
let loaded = false // whether a page was shown
let turn = 0 // of the last request for plants: responses to earlier ones are dropped
let listed // the number of plants when the page was listed
let announced = 0 // when new plants were announced
let unannounced = 0 // new plants since then
const fresh = new Map() // when a new plant was first seen, by id
const problems = new Map() // what does not work, by what it concerns

// --- requests

class Refusal extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

async function request(path, params) {
  const query = params ? `?${new URLSearchParams(params)}` : ''
  let response
  try {
    response = await fetch(`api/${path}${query}`, { headers: { Authorization: `Bearer ${key}` }, credentials: 'omit' })
  } catch {
    throw new Refusal(0, 'The command plantstore plants browse has ended. Start it again, and open the link that it prints.')
  }
  const body = await response.json()
  if (!response.ok) throw new Refusal(response.status, body.error)
  return body
}

// takeKey takes the key from the fragment of the URL, and removes it there.
function takeKey() {
  const found = /^#key=([A-Za-z0-9]+)$/.exec(location.hash)
  if (found) {
    key = found[1]
    history.replaceState(null, '', location.pathname)
  }
  try { // a reload has no fragment
    if (found) sessionStorage.setItem(keyItem, key)
    else key = sessionStorage.getItem(keyItem) ?? key
  } catch { /* storage may be disabled */ }
}

// --- messages

function problem(about, message) {
  problems.set(about, message)
  const texts = [...new Set([...problems.values()].filter(Boolean))]
  const box = element('problem')
  const text = texts.join(' ')
  if (box.textContent !== text) box.textContent = text
  box.hidden = !text
  document.querySelector('main').classList.toggle('stale', Boolean(text))
}

function note(message) {
  element('note').textContent = message
  element('note').hidden = !message
}

function say(message) { element('said').textContent = message }

function counted(n, one, many) { return `${number.format(n)} ${n === 1 ? one : many}` }

// --- rows

function create(name, properties, ...children) {
  const e = Object.assign(document.createElement(name), properties)
  e.append(...children)
  return e
}

// Characters that are invisible, or change the order or the lines of a text, except the
// joiners of scripts and emoji.
const special = /([\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf})/u

// isolated returns text with its special characters as their code points, apart from the
// direction of the text around it.
function isolated(text) {
  const parts = text.split(special).filter(Boolean).map(part => special.test(part)
    ? create('span', { className: 'code', textContent: `U+${part.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}` })
    : part)
  return create('bdi', {}, ...parts)
}

function cell(name, className, shown) {
  if (!shown) return create(name, { className }, create('span', { className: 'quiet', textContent: 'none' }))
  if (shown.text === '') return create(name, { className }, create('span', { className: 'quiet', textContent: 'empty' }))
  const value = isolated(shown.text)
  if (shown.text.length > 60) value.className = 'long'
  const c = create(name, { className }, value)
  if (shown.bytes) c.append(create('span', { className: 'quiet', textContent: `… ${counted(shown.bytes, 'byte', 'bytes')} in all` }))
  return c
}

function newRow(plant) {
  const row = create('tr', {},
    create('th', { scope: 'row', textContent: plant.id }), cell('td', '', plant.name), cell('td', 'tag', plant.tag))
  row.dataset.id = plant.id
  row.dataset.shown = JSON.stringify(plant)
  return row
}

function corruptRow(corrupt) {
  const row = create('tr', {}, create('td', { className: 'corrupt', colSpan: 3 },
    corrupt.id ? `The plant with the id ${corrupt.id} cannot be read: ` : 'More plants cannot be read: ', isolated(corrupt.error),
    '. The command plantstore check reports all such plants.'))
  row.dataset.id = `corrupt ${corrupt.id}`
  return row
}

// decorate marks the rows of new plants, and that of the id that was searched for.
function decorate(row) {
  const id = row.dataset.id
  const isFresh = fresh.has(id)
  if (isFresh !== row.classList.contains('fresh')) {
    row.classList.toggle('fresh', isFresh)
    if (isFresh) row.children[1].append(create('span', { className: 'badge', textContent: 'new' }))
    else row.querySelector('.badge')?.remove()
  }
  row.classList.toggle('found', view.target === id)
}

// drawRows shows the plants. Rows that stay are not touched, so that a selection stays, too.
function drawRows() {
  const body = element('rows')
  const present = new Map([...body.children].map(row => [row.dataset.id, row]))
  let rows = page.plants.map(plant => {
    const row = present.get(plant.id) // after a reset, perhaps of another plant
    return row?.dataset.shown === JSON.stringify(plant) ? row : newRow(plant)
  })
  if (page.corrupt) {
    const row = corruptRow(page.corrupt)
    rows = view.param === 'through' ? [row, ...rows] : [...rows, row]
  }
  if (view.order === 'desc' && !view.name) rows.reverse()
  rows.forEach((row, i) => {
    decorate(row)
    if (body.children[i] !== row) body.insertBefore(row, body.children[i] ?? null)
  })
  while (body.children.length > rows.length) body.lastChild.remove()
  element('empty').hidden = rows.length > 0 || view.searching === true
  element('empty').textContent = view.name ? 'No plant here has a name that begins like this.' : 'There are no plants here.'
}

function drawPager() {
  const descending = view.order === 'desc' && !view.name
  const back = view.name ? view.stack.length > 0 : descending ? page.after : page.before
  const on = view.name ? Boolean(page.next) : descending ? page.before : page.after
  const enable = (id, enabled) => element(id).setAttribute('aria-disabled', String(!enabled))
  enable('first', back)
  enable('previous', back)
  enable('next', on)
  enable('last', on && !view.name)
  const ids = page.plants.map(plant => plant.id)
  if (descending) ids.reverse()
  element('range').textContent = ids.length === 0 ? '' : ids.length === 1 ? `Id ${ids[0]}` : `Ids ${ids[0]} to ${ids.at(-1)}`
  element('caption').textContent = view.name ? 'Plants with a name that begins as searched, lowest id first'
    : `Plants, ${descending ? 'highest' : 'lowest'} id first`
}

function draw() {
  drawRows()
  drawPager()
  element('progress').hidden = !view.name
  element('stop').hidden = !view.searching
}

// --- pages

// show requests the plants of a view and shows them. When the view is shown already, plants
// that were not there before are marked as new.
async function show(next, again = false) {
  const mine = ++turn
  const before = latest()?.plants
  try {
    let result = await request('plants', { [next.param]: next.id })
    if (mine !== turn) return
    const first = firstOf(next.order)
    if (next.backwards && !(next.order === 'desc' ? result.after : result.before)) { // the first page is a full one
      next = first
      result = await request('plants', { [next.param]: next.id })
      if (mine !== turn) return
    }
    if (again) mark(result.plants)
    else fresh.clear()
    if (next.target) next.target = String(BigInt(next.target)) // as the server writes it
    view = next
    page = result
    listed = before
    loaded = true
    problem('plants', '')
  } catch (error) {
    if (mine === turn) refused(error, 'plants')
    return
  }
  draw()
  if (!again) {
    noteTarget()
    say([element('note').textContent, `${counted(page.plants.length, 'plant', 'plants')}. ${element('range').textContent}`].join(' ').trim())
  }
}

// refused shows an error: an error of the input next to it, any other as a problem.
function refused(error, about) {
  if (error.status === 400) {
    element('id').setAttribute('aria-invalid', 'true')
    note(error.message)
    say(error.message)
  } else {
    problem(about, error.message)
  }
}

function noteTarget() {
  element('id').removeAttribute('aria-invalid')
  const missing = view.target && !page.plants.some(plant => plant.id === view.target)
  note(missing ? `No plant has the id ${view.target}. These plants have the next ${view.order === 'desc' ? 'lower' : 'higher'} ids.` : '')
}

function mark(plants) {
  const known = new Set(page.plants.map(plant => plant.id))
  const now = performance.now()
  for (const plant of plants) {
    if (known.has(plant.id)) continue
    fresh.set(plant.id, now)
    unannounced++
  }
  if (unannounced > 0 && now - announced > announceTime) {
    say(`${counted(unannounced, 'new plant', 'new plants')} on this page`)
    announced = now
    unannounced = 0
  }
}

function firstOf(order) {
  return order === 'desc' ? { order, param: 'through', id: highest } : { order, param: 'from', id: lowest }
}

function lastOf(order) {
  return order === 'desc' ? { order, param: 'from', id: lowest } : { order, param: 'through', id: highest }
}

// edge returns the view that follows the shown plants below or above.
function edge(below) {
  const ids = page.plants.map(plant => BigInt(plant.id))
  if (page.corrupt?.id) ids.push(BigInt(page.corrupt.id))
  if (ids.length === 0) return firstOf(view.order)
  const outermost = ids.reduce((a, b) => (a < b) === below ? a : b)
  return below ? { order: view.order, param: 'through', id: String(outermost - 1n) }
    : { order: view.order, param: 'from', id: String(outermost + 1n) }
}

// --- search by name

async function search(name, from, stack) {
  const mine = ++turn
  let searched = 0
  view = { name, from, stack, searching: true, order: view.order, param: 'from' }
  page = { plants: [], next: from }
  fresh.clear()
  note('')
  try {
    do {
      const part = await request('search', { name, from: page.next })
      if (mine !== turn) return
      searched += part.searched
      page = { plants: [...page.plants, ...part.plants], next: part.next, corrupt: part.corrupt ?? page.corrupt }
      view.searching = Boolean(page.next) && page.plants.length < 50
      problem('plants', '')
      element('searched').textContent = progressText(searched)
      draw()
      if (view.searching && source === 'file') { // a server that starts can lock it meanwhile
        await new Promise(done => setTimeout(done, 150))
        if (mine !== turn) return
      }
    } while (view.searching)
    say(element('searched').textContent)
  } catch (error) {
    if (mine !== turn) return
    view.searching = false
    draw()
    refused(error, 'plants')
  }
}

function progressText(searched) {
  const all = latest()?.plants
  const where = view.from === lowest ? '' : ` from id ${view.from} on`
  const end = page.next ? view.searching ? '…' : `. Next searches on from id ${page.next}.` : '. That is the end.'
  return `Searched ${number.format(searched)}${all === undefined ? '' : ` of ${number.format(all)}`} plants${where}: ${number.format(page.plants.length)} found${end}`
}

function stopSearch() {
  turn++
  view.searching = false
  element('searched').textContent = element('searched').textContent.replace(/…$/, `. Stopped; Next searches on from id ${page.next}.`)
  draw()
  say(element('searched').textContent)
}

// --- count and chart

let source = '' // of the plants: server, file or cluster
let samples = [] // the newest last; ages in ms

function latest() { return samples.at(-1) }

// rates returns the creates per second between the samples.
function rates() {
  return samples.slice(1).map((b, i) => {
    const a = samples[i]
    return { from: a.age, to: b.age, rate: Math.max(0, (b.plants - a.plants) * 1000 / Math.max(1, a.age - b.age)) }
  })
}

// rateNow returns the rate of the last seconds.
function rateNow() {
  const b = latest()
  const a = samples.findLast(sample => sample.age - b.age >= 2500) ?? samples[0]
  return a === b ? undefined : Math.max(0, (b.plants - a.plants) * 1000 / (a.age - b.age))
}

function drawChart() {
  const all = rates()
  const peak = Math.max(0, ...all.map(r => r.rate))
  const svg = element('chart')
  svg.replaceChildren(...all.filter(r => r.rate > 0).map(r => {
    const rect = document.createElementNS('http://www.w3.org/2000/svg', 'rect')
    const left = Math.max(0, 120 - r.from / 1000)
    const height = Math.max(0.6, 39 * r.rate / peak)
    const width = Math.max(0.1, 120 - r.to / 1000 - left - 0.15)
    for (const [name, value] of Object.entries({ x: left, y: 40 - height, width, height })) rect.setAttribute(name, value.toFixed(2))
    return rect
  }))
  const now = rateNow()
  const format = rate => rate >= 10 ? number.format(Math.round(rate)) : few.format(rate)
  element('rate').textContent = now === undefined ? '–' : format(now)
  element('peak').textContent = peak > 0 ? `at most ${format(peak)} per second` : ''
  svg.setAttribute('aria-label', now === undefined ? 'Creates per second: no data yet'
    : `Creates per second in the last two minutes: now ${format(now)}, at most ${format(peak)}`)
}

function drawStatus(status) {
  const words = {
    server: 'read from the running server',
    file: 'read from the file: no server runs',
    cluster: 'a store over a network, which is counted less often',
  }
  element('source').textContent = [status.place, words[status.source]].filter(Boolean).join(', ')
  const count = latest()
  const unit = count?.plants === 1 ? 'plant' : 'plants'
  element('count').textContent = count ? number.format(count.plants) : '…'
  element('count-unit').textContent = count && count.age > 10_000 ? `${unit}, ${Math.round(count.age / 1000)} seconds ago` : unit
  document.title = count ? `${number.format(count.plants)} ${unit}` : 'Plants'
  drawChart()
}

// --- live

function isLive() { return element('live').getAttribute('aria-checked') === 'true' }

async function tick() {
  if (document.hidden || !key) return
  try {
    const status = await request('status')
    samples = status.samples
    source = status.source
    drawStatus(status)
    problem('status', status.error ?? '')
  } catch (error) {
    problem('status', error.message)
    return
  }
  const now = performance.now()
  let expired = false
  for (const [id, seen] of fresh) expired = now - seen > freshTime && fresh.delete(id) || expired
  if (expired) drawRows()
  const count = latest()
  const changed = count && (count.plants !== listed || count.age > 3000)
  if (problems.get('plants') && !view.name || isLive() && !view.name && changed) await show(view, loaded)
}

async function run() {
  for (;;) {
    await tick()
    await new Promise(done => {
      setTimeout(done, 1000)
      document.addEventListener('visibilitychange', done, { once: true })
    })
  }
}

// --- controls

function onClick(id, action) {
  element(id).addEventListener('click', () => {
    if (element(id).getAttribute('aria-disabled') !== 'true') action()
  })
}

function begin() { return view.name ? search(view.name, lowest, []) : show(firstOf(view.order)) }

function previous() {
  if (view.name) return search(view.name, view.stack.at(-1), view.stack.slice(0, -1))
  return show({ ...edge(view.order === 'asc'), backwards: true })
}

function next() {
  if (view.name) return search(view.name, page.next, [...view.stack, view.from])
  return show(edge(view.order === 'desc'))
}

function listen() {
  onClick('first', begin)
  onClick('previous', previous)
  onClick('next', next)
  onClick('last', () => show(lastOf(view.order)))
  onClick('stop', stopSearch)
  onClick('clear', () => {
    element('name').value = ''
    show(firstOf(element('order').value))
  })
  onClick('live', () => element('live').setAttribute('aria-checked', String(!isLive())))
  element('order').addEventListener('change', () => show(firstOf(element('order').value)))
  element('by-id').addEventListener('submit', event => {
    event.preventDefault()
    const order = element('order').value
    const target = element('id').value.trim()
    show(target ? { order, param: order === 'desc' ? 'through' : 'from', id: target, target } : firstOf(order))
  })
  element('by-name').addEventListener('submit', event => {
    event.preventDefault()
    const name = element('name').value
    if (name) search(name, lowest, [])
    else show(firstOf(element('order').value))
  })
  addEventListener('hashchange', start)
}

function start() {
  takeKey()
  if (!key) {
    problem('key', 'This page needs the link that plantstore plants browse has printed, with its key.')
    return
  }
  problem('key', '')
  show(firstOf(element('order').value))
}

listen()
start()
run()
