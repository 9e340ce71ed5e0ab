document.addEventListener('DOMContentLoaded', () => {
  Scalar.createApiReference('#docs', {
    content: document.getElementById('description').textContent,
    // The page is as far from the service as its own address says, whatever proxy is in between.
    servers: [{ url: new URL('.', location).href.replace(/\/$/, '') }],
    // Nothing goes anywhere but to this server.
    proxyUrl: '',
    telemetry: false,
    withDefaultFonts: false,
    agent: { disabled: true, hideAddApi: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    hideClientButton: true,
    // The page's own copy of the description is not the one to take home.
    documentDownloadType: 'none',
    defaultOpenAllTags: true,
    customCss: `
      :root {
        --scalar-font: system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif;
        --scalar-font-code: ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace;
      }
      .light-mode { --scalar-color-accent: #15803d; --scalar-background-accent: #15803d14 }
      .dark-mode { --scalar-color-accent: #4ade80; --scalar-background-accent: #4ade8014 }
      .markdown th { white-space: nowrap }
      section:focus-visible { outline: none }
      /* An answer is read whole, not scrolled sideways. */
      .response-section-content-body .cm-content { white-space: break-spaces; overflow-wrap: anywhere; flex-shrink: 1 }
      .response-section-content > :has(.response-section-content-body) { order: -1 }
      /* What this service has no use for: a second credential or operation, cookies,
         queries, a choice of parts to see; and the maker's name. */
      [class*='group/combobox-button'][aria-describedby],
      .scalar-sidebar-toggle,
      .request-response-header .context-bar-group,
      .request-section-content > :nth-child(3 of [class*='group/params']),
      .request-section-content > :nth-child(5 of [class*='group/params']),
      .response-section-content-cookies,
      a[href='https://www.scalar.com'] { display: none }`,
  })
})
