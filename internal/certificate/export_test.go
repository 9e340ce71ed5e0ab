package certificate

import "net/http"

// SetClient sets what a speaks to the authority with. It must be called before a is
// used.
func (a *ACME) SetClient(client *http.Client) { a.manager.Client.HTTPClient = client }
