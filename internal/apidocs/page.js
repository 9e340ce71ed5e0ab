// The link that plantstore prints has a token in its fragment, which no request contains.
const [, linked] = location.hash.match(/^#token=([\w.-]+)$/) ?? []
if (linked) { // out of the address bar, and to the operation
  history.replaceState(null, '', location.pathname + location.search + '#tag/plants/POST/plants')
}
addEventListener('hashchange', () => location.hash.startsWith('#token=') && location.reload())

// The token outlives a reload, but not the tab.
const noToken = 'get one with plantstore token --link'
// subject describes the subject of a token for a person.
const subject = token => {
  try {
    const claims = Uint8Array.from(atob(token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')), c => c.charCodeAt(0))
    return JSON.stringify(String(JSON.parse(new TextDecoder().decode(claims)).sub ?? '').slice(0, 60))
  } catch {
    return 'another token'
  }
}
// replaces asks for a link that replaces the token of another subject: plants of this page would become the other's.
const replaces = stored => !stored || subject(stored) === subject(linked)
  || confirm(`Use the token of this link (${subject(linked)}) instead of the one that is in use (${subject(stored)})?`)
let token = linked
try {
  if (linked && replaces(sessionStorage.getItem('plantstore-token'))) sessionStorage.setItem('plantstore-token', linked)
  token = sessionStorage.getItem('plantstore-token') ?? ''
  addEventListener('input', ({ target }) => target.placeholder === noToken && sessionStorage.setItem('plantstore-token', target.value))
} catch { /* storage may be disabled */ }

// The ids of the examples are drawn for each view, and again when a request would repeat one that
// has created a plant, so that an unedited request creates a plant. The id 0, the greatest and the
// least id are fixed.
const description = JSON.parse(document.getElementById('description').textContent)
const drawn = new Map() // how to draw another id, by id
const created = new Set() // the drawn ids of plants
const draw = another => {
  const id = String(another())
  drawn.set(id, another)
  return id
}
const tenDigits = () => 1e9 + Math.floor(9e9 * Math.random())
const notADouble = () => 2n ** 53n + 2n * BigInt(Math.floor(2 ** 52 * Math.random())) + 1n
const examples = description.paths['/plants'].post.requestBody.content['application/json'].examples
for (const example of Object.values(examples)) {
  example.value = example.value
    .replace(/(?<="id": )[1-9](?=,)/, () => draw(tenDigits))
    .replace(/(?<="id": )9007199254740993(?=,)/, () => draw(notADouble))
}

let sent // the id of the last request

// drawAgain draws another id for a request whose id a plant has, in its editor or form, too.
const drawAgain = body => {
  const [, before, id] = String(body?.value).match(/^([^]*"id"\s*:\s*)(\d+)/) ?? [] // there may be no body, or one of another type
  sent = id
  if (!created.has(id)) return
  const editor = document.querySelector('[role="dialog"] .cm-content[contenteditable="true"][data-language="json"]')?.cmView.rootView.view
  const field = [...document.querySelectorAll('[role="dialog"] .code-input-lite__editor')].find(e => e.textContent === id)
  const [from, to] = [before.length, before.length + id.length]
  if (editor) {
    sent = draw(drawn.get(id))
    editor.dispatch({ changes: { from, to, insert: sent } })
  } else if (field) {
    sent = draw(tenDigits) // the form reads numbers as float64
    field.textContent = sent
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }
  body.value = before + sent + body.value.slice(to)
}

// amend gives names and roles to parts of the viewer that lack them (WCAG 4.1.2), and keeps
// the keyboard in the dialog while it is open.
const amend = () => {
  const each = (selector, change) => document.querySelectorAll(selector).forEach(change)
  const open = !!document.querySelector('.scalar-client--open')
  each('.references-rendered, .t-doc__sidebar, .t-doc__header', e => { e.inert = open })
  each('#docs > div > section', e => { e.ariaLabel = 'Notifications of the page' })
  each('.scalar-toaster > [role], button[role="none"]', e => e.removeAttribute('role'))
  each('button[class*="group/copy-button"]', e => {
    e.ariaLabel = 'Copy'
    e.removeAttribute('aria-controls')
  })
  each('.cm-content', e => { e.ariaLabel = e.isContentEditable ? 'Request body' : 'Response body' })
  each('[role="combobox"][contenteditable]', e => { e.role = 'textbox' })
  each('input[role="combobox"]:not([aria-expanded])', e => { e.ariaExpanded = 'true' })
}

// tryOnce opens the dialog that sends a request, as soon as its button is there.
let tryOnce = linked && (() => {
  const button = document.querySelector('.show-api-client-button')
  if (button) {
    tryOnce = undefined
    button.focus() // where it returns to
    button.click()
  }
})

document.addEventListener('DOMContentLoaded', () => {
  new MutationObserver(() => {
    amend()
    tryOnce?.()
  }).observe(document.body, { childList: true, subtree: true, attributeFilter: ['class'] })
  Scalar.createApiReference('#docs', {
    content: description,
    // The URL of the service is relative to the page: a proxy may have added a path prefix.
    servers: [{ url: new URL('.', location).href.replace(/\/$/, '') }],
    authentication: { preferredSecurityScheme: 'bearerAuth', securitySchemes: { bearerAuth: { token } } },
    localization: { translations: { apiClient: { requestAuthTab: { token: noToken } } } },
    onBeforeRequest: ({ requestBuilder }) => drawAgain(requestBuilder.body),
    onResponseReceived: ({ response }) => {
      if (response.ok && drawn.has(sent)) created.add(sent)
      // On a phone the response is below the request.
      requestAnimationFrame(() => requestAnimationFrame(() => document.querySelector('section[aria-label="Response"]')?.scrollIntoView()))
    },
    // All requests go to this server.
    proxyUrl: '',
    telemetry: false,
    withDefaultFonts: false,
    agent: { disabled: true, hideAddApi: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    hideClientButton: true,
    // The page's copy of the description differs from the original, so it cannot be downloaded.
    documentDownloadType: 'none',
    defaultOpenAllTags: true,
  })
})
