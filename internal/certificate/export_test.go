package certificate

import "net/http"

// SetClient sets the client of a for the authority. It must be called before a is used.
func (a *ACME) SetClient(client *http.Client) { a.manager.Client.HTTPClient = client }
