// The script of the page: it requests plants and counts, and shows them. Ids are strings and
// BigInt, since numbers are exact up to 2^53 only. Names and tags are untrusted: they become
// text nodes, never HTML.

const lowest = '-9223372036854775808'
const pageSize = 50
const keyItem = 'plantstore-key'
const chartTime = 120_000 // ms that the chart shows
const freshTime = 6000 // ms for which a new plant is marked
const announceTime = 10_000 // ms between announcements of new plants

export const element = id => document.getElementById(id)
export const pause = ms => new Promise(done => setTimeout(done, ms))
const number = new Intl.NumberFormat('en')
const few = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const counted = (n, one, many) => `${number.format(n)} ${n === 1 ? one : many}`

let key = ''
export let baseURL = '' // of the server
export const hasKey = () => key !== ''
let view = { from: lowest, name: '', back: [] } // back: where the pages before this one begin
let page = { plants: [], next: '' }
let turn = 0 // of the last view that was requested: responses for earlier ones are dropped
let top // the highest id that was seen, a BigInt
const arrivals = new Map() // plants that were created while the page was open, by id, the newest last
let samples = [] // counts, the newest last
let refreshed // the count when the shown page was requested
let announced = -announceTime // when new plants were announced
const problems = new Map() // what does not work, by what it concerns

// --- requests

export async function request(path, params = {}) {
  let response
  try {
    response = await fetch(`${path}?${new URLSearchParams(params)}`, { headers: { Authorization: `Bearer ${key}` }, credentials: 'omit' })
  } catch {
    throw new Error('The command plantstore plants browse has ended. Start it again, and open the link that it prints.')
  }
  const text = await response.text()
  const values = text.split('\n').filter(Boolean).map(line => JSON.parse(line))
  if (!response.ok) throw Object.assign(new Error(values[0].message), { code: values[0].error })
  return response.headers.get('Content-Type') === 'application/jsonl' ? values : values[0]
}

async function highest() { return BigInt((await request('page/plants', { descending: true })).plants[0]?.id ?? lowest) }

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
  const text = [...new Set(problems.values())].join(' ').trim()
  if (element('problem').textContent !== text) element('problem').textContent = text
  element('problem').hidden = !text
  document.querySelector('main').classList.toggle('stale', Boolean(text))
}

function note(message) {
  element('note').textContent = message
  element('note').hidden = !message
}

export function say(message) { element('said').textContent = message }

// --- rows

export function create(name, properties, ...children) {
  const e = Object.assign(document.createElement(name), properties)
  e.append(...children)
  return e
}

// Characters that are invisible, or change the order or the lines of a text, except the
// joiners of scripts and emoji.
export const special = /([\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf})/u

// isolated returns text with its special characters as their code points, apart from the
// direction of the text around it.
export function isolated(text) {
  const parts = text.split(special).filter(Boolean).map(part => special.test(part)
    ? create('span', { className: 'code', textContent: `U+${part.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}` })
    : part)
  return create('bdi', { className: text.length > 60 ? 'long' : '' }, ...parts)
}

function cell(className, shown) {
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

// decorate marks the rows of new plants.
function decorate(row) {
  const fresh = performance.now() - arrivals.get(row.dataset.id)?.at < freshTime
  if (fresh !== row.classList.contains('fresh')) {
    row.classList.toggle('fresh', fresh)
    if (fresh) row.children[1].append(create('span', { className: 'badge', textContent: 'new' }))
    else row.querySelector('.badge').remove()
  }
  row.classList.toggle('recent', isStart() && arrivals.has(row.dataset.id))
}

const isStart = () => view.from === lowest && !view.name

// draw shows the plants. Rows that stay are not touched, so that a selection stays, too.
function draw() {
  const body = element('rows')
  const recent = isStart() ? [...arrivals.values()].reverse().map(arrival => arrival.plant) : []
  const plants = [...recent, ...page.plants.filter(plant => recent.length === 0 || !arrivals.has(plant.id))]
  const present = new Map([...body.children].map(row => [row.dataset.shown, row]))
  const rows = plants.map(plant => present.get(JSON.stringify(plant)) ?? newRow(plant))
  if (page.corrupt) rows.push(corruptRow(page.corrupt))
  rows.forEach((row, i) => {
    decorate(row)
    if (body.children[i] !== row) body.insertBefore(row, body.children[i] ?? null)
  })
  while (body.children.length > rows.length) body.lastChild.remove()
  element('empty').hidden = rows.length > 0 || page.searching
  element('empty').textContent = view.name ? 'No plant here has a name that begins like this.' : 'There are no plants here.'
  drawPager()
}

function drawPager() {
  const enable = (id, enabled) => element(id).setAttribute('aria-disabled', String(!enabled))
  enable('first', view.from !== lowest)
  enable('previous', view.back.length > 0)
  enable('next', page.next && !page.searching)
  enable('last', page.next && !view.name)
  const [first, last] = [page.plants[0]?.id, page.plants.at(-1)?.id]
  element('range').textContent = first === last ? first ? `Id ${first}` : '' : `Ids ${first} to ${last}`
  element('progress').hidden = !view.name
  element('searched').textContent = view.name ? progress() : ''
}

function progress() {
  const all = samples.at(-1)
  const end = page.searching ? '…' : page.next ? `. Next searches on from id ${page.next}.` : '. That is the end.'
  return `Searched ${number.format(page.searched)}${all ? ` of ${number.format(all.plants)}` : ''} plants`
    + `${view.from === lowest ? '' : ` from id ${view.from} on`}: ${number.format(page.plants.length)} found${end}`
}

// --- pages

// read requests the plants of a view, in parts, since the server reads for a short time at once. It
// passes what it has so far to each, which returns whether to continue.
async function read(wanted, each) {
  const found = { plants: [], next: wanted.from, searched: 0 }
  do {
    const part = await request('page/plants', { from: found.next, name: wanted.name })
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

// show requests the plants of a view and shows them.
async function show(next) {
  const mine = ++turn
  const count = samples.at(-1)?.plants
  try {
    await read(next, found => {
      if (mine !== turn) return false
      if (next.target) next.target = String(BigInt(next.target)) // as the server writes it
      ;[view, page, refreshed] = [next, found, count]
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

async function showLast() {
  try {
    const start = await highest() - BigInt(pageSize - 1)
    show({ from: start > BigInt(lowest) ? String(start) : lowest, name: '', back: [] })
  } catch (error) {
    refused(error)
  }
}

// --- new plants

export const isLive = () => element('live').getAttribute('aria-checked') === 'true'

// refresh requests the shown plants again when the count has changed, or is old.
async function refresh() {
  for (const row of element('rows').children) decorate(row)
  const count = samples.at(-1)
  if (problems.get('plants') && !view.name) return show(view)
  if (!isLive() || !count || count.plants === refreshed && performance.now() - count.at < 3000) return
  const shown = view
  try {
    const higher = await plantsAbove()
    let again = page
    if (!view.name) await read(view, found => (again = found, view === shown))
    if (view !== shown || page.searching) return arrive(higher)
    const known = new Set(page.plants.map(plant => plant.id))
    arrive([...again.plants.filter(plant => !known.has(plant.id)), ...higher])
    ;[page, refreshed] = [again, count.plants]
    draw()
  } catch (error) {
    if (view === shown) refused(error)
  }
}

// plantsAbove returns the plants above the highest id that was seen, or the last of them.
async function plantsAbove() {
  if (top === undefined || top === 2n ** 63n - 1n) return []
  let above = await request('page/plants', { from: String(top + 1n) })
  if (above.next) { // more than a page has come
    const last = await highest()
    const start = last - BigInt(pageSize - 1)
    above = await request('page/plants', { from: String(start > top ? start : top + 1n) })
    top = last
  }
  if (above.plants.length > 0) top = BigInt(above.plants.at(-1).id)
  return above.plants
}

function arrive(plants) {
  const at = performance.now()
  for (const plant of plants) {
    if (arrivals.has(plant.id)) continue
    arrivals.set(plant.id, { plant, at })
    if (arrivals.size > pageSize) arrivals.delete(arrivals.keys().next().value)
  }
  if (plants.length === 0 || at - announced < announceTime) return
  say('There are new plants.')
  announced = at
}

// --- count and chart

async function count() {
  top ??= await highest()
  const { plants, place, base_url: base } = await request('count')
  baseURL = base
  const at = performance.now()
  if (plants < samples.at(-1)?.plants) { // the server was reset
    arrivals.clear()
    top = undefined
  }
  samples = [...samples.filter((_, i) => i === samples.length - 1 || at - samples[i + 1].at < chartTime), { plants, at }]
  element('source').textContent = place
  element('count').textContent = number.format(plants)
  document.title = counted(plants, 'plant', 'plants')
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
  element('peak').textContent = peak > 0 ? `at most ${format(peak)} per second` : ''
  element('chart').setAttribute('aria-label', `Creates per second in the last two minutes: now ${now}, at most ${format(peak)}`)
}

// --- controls

// repeat calls an action each second, less often if it takes long: some stores read all plants to
// count them. What fails after a long wait for a lock is repeated soon.
async function repeat(action) {
  for (;;) {
    const began = performance.now()
    let wait = 1000
    if (!document.hidden && key) {
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

function begin(name = '') { return show({ from: lowest, name, back: [] }) }

function start() {
  takeKey()
  problem('key', key ? '' : 'This page needs the link that plantstore plants browse has printed, with its key.')
  if (key) begin()
}

onClick('first', () => begin(view.name))
onClick('previous', () => show({ ...view, target: '', from: view.back.at(-1), back: view.back.slice(0, -1) }))
onClick('next', () => show({ ...view, target: '', from: page.next, back: [...view.back, view.from] }))
onClick('last', showLast)
onClick('clear', () => {
  element('name').value = ''
  begin()
})
onClick('live', () => element('live').setAttribute('aria-checked', String(!isLive())))
onSubmit('by-id', () => {
  const target = element('id').value.trim()
  element('name').value = ''
  if (target) show({ from: target, target, name: '', back: [] })
  else begin()
})
onSubmit('by-name', () => begin(element('name').value))
addEventListener('hashchange', () => { if (location.hash.startsWith('#key=')) start() })
start()
repeat(count)
repeat(refresh)
