// What the views of the page share: requests to the server, and elements of untrusted text. It runs nothing by
// itself.

let key = ''
export const hasKey = () => key !== ''
export const setKey = text => { key = text }

// request returns the value of a response, or an array of those of JSON Lines.
export async function request(path, params = {}) {
  let response
  try {
    response = await fetch(`${path}?${new URLSearchParams(params)}`, { headers: { Authorization: `Bearer ${key}` }, credentials: 'omit' })
  } catch {
    throw new Error('The command plantstore plants browse has ended. Start it again, and open the link that it prints.')
  }
  const values = (await response.text()).split('\n').filter(Boolean).map(line => JSON.parse(line))
  const failure = values.find(value => value.error && value.message && !value.number) // also after lines
  if (failure) throw Object.assign(new Error(failure.message), { code: failure.error })
  return response.headers.get('Content-Type') === 'application/jsonl' ? values : values[0]
}

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

// quoted returns text as one word of a shell. Characters that act on a terminal are escaped.
export function quoted(text) {
  if (!special.test(text)) return `'${text.replaceAll("'", String.raw`'\''`)}'`
  const bytes = part => [...new TextEncoder().encode(part)].map(byte => String.raw`\x${byte.toString(16).padStart(2, '0')}`).join('')
  return `$'${text.split(special).filter(Boolean).map(part => special.test(part) ? bytes(part) : part.replace(/[\\']/g, String.raw`\$&`)).join('')}'`
}

// curl returns a command that sends a request to base again, with the token in $TOKEN.
export function curl(base, r) {
  const plain = /^\/[\w~%?=&+,:@/-]*$/.test(r.target)
  const words = ['curl -sS', plain ? quoted(base + r.target) : `--request-target ${quoted(r.target)} ${quoted(base)}`]
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
