// Tests of the functions that the views of the page share, which TestPageFunctions runs. Of a browser they need
// elements that have children, and fetch.

import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { curl, isolated, quoted, request, setKey } from './page.js'

globalThis.document = { createElement: name => ({ name, children: [], append(...children) { this.children.push(...children) } }) }

let sent, response
globalThis.fetch = async (url, options) => {
  sent.push({ url, ...options })
  return response instanceof Error ? Promise.reject(response) : response
}
const reply = (status, type, body) => { response = new Response(body, { status, headers: { 'Content-Type': type } }) }

beforeEach(() => {
  sent = []
  setKey('THEKEY')
})

test('request sends the key in Authorization, and not in the URL or a cookie', async () => {
  reply(200, 'application/json', '{"plants":7}\n')
  assert.deepEqual(await request('count', { from: '-9223372036854775808', name: 'a&b=c' }), { plants: 7 })
  assert.deepEqual(sent, [{ url: 'count?from=-9223372036854775808&name=a%26b%3Dc', headers: { Authorization: 'Bearer THEKEY' }, credentials: 'omit' }])
})

test('request returns JSON Lines, of which refused requests are no failures', async () => {
  reply(200, 'application/jsonl', '{"number":1,"error":422,"message":"x"}\n{"number":2}\n')
  assert.deepEqual(await request('page/requests'), [{ number: 1, error: 422, message: 'x' }, { number: 2 }])
  reply(200, 'application/jsonl', '')
  assert.deepEqual(await request('page/creates'), [])
})

test('request throws the Error of a response, also after lines', async () => {
  reply(400, 'application/json', '{"error":401,"message":"the key is wrong"}\n')
  await assert.rejects(request('count'), { message: 'the key is wrong', code: 401 })
  reply(200, 'application/jsonl', '{"number":1}\n{"error":503,"message":"locked"}\n')
  await assert.rejects(request('page/creates'), { message: 'locked', code: 503 })
  response = new TypeError('fetch failed')
  await assert.rejects(request('count'), /plants browse has ended/)
})

test('isolated shows characters that are invisible, or change order or lines, as code points', () => {
  const shown = text => isolated(text).children.map(part => part.textContent ?? part).join('')
  for (const code of [0, 7, 0x1b, 0x7f, 0x85, 0x61c, 0x200e, 0x2028, 0x2029, 0x202e, 0x2066, 0xfeff, 0xe0041]) {
    const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
    assert.equal(shown(`a${String.fromCodePoint(code)}b`), `a${name}b`)
    assert.equal(isolated(String.fromCodePoint(code)).children[0].className, 'code')
  }
  for (const text of ['Käfer', '👩\u200d🌾', 'U+202E', '<b>&amp;', '']) assert.equal(shown(text), text)
})

test('quoted is one word of a shell, without characters that act on a terminal', () => {
  assert.equal(quoted("it's $(x)"), String.raw`'it'\''s $(x)'`)
  assert.equal(quoted('a\x1b\u202e\\\'b'), String.raw`$'a\x1b\xe2\x80\xae\\\'b'`)
})

test('curl repeats a request with the token in $TOKEN', () => {
  const header = [{ name: 'Host', value: 'x' }, { name: 'Authorization', value: 'Bearer (valid, subject me)' }, { name: 'X-Empty', value: '' }]
  assert.equal(curl('http://h:1', { method: 'POST', target: '/plants', version: 'HTTP/1.1', header, body: '{"id":1}' }),
    `curl -sS 'http://h:1/plants' -X 'POST' -H 'Authorization: Bearer '"$TOKEN" -H 'X-Empty;' -H 'Content-Type:' --data-raw '{"id":1}'`)
})
