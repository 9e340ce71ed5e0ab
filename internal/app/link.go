package app

import (
	"slices"
	"time"

	"plantstore/internal/apidocs"
	"plantstore/internal/auth"
	"plantstore/internal/config"
	"plantstore/internal/logging"
	"plantstore/internal/loopback"
	"plantstore/internal/printable"
)

const (
	// DefaultSubject is the subject of a token if none is given.
	DefaultSubject = "developer"
	// LinkLifetime is the lifetime of the token in a link to the docs page.
	LinkLifetime = time.Hour
)

// Grant returns the claims of a token for a server with the configuration c.
func Grant(c *config.Config, subject string, ttl time.Duration) auth.Grant {
	return auth.Grant{Subject: subject, Issuer: c.JWTIssuer, Audience: c.JWTAudience, Scope: c.JWTScope, TTL: ttl}
}

// docsLink returns the address of the docs page for the banner.
func (a *App) docsLink() string {
	if !a.config.Docs {
		return "(DOCS is off)"
	}
	page := a.BaseURL() + apidocs.PagePath
	if !a.showsToken() {
		return page
	}
	token, err := auth.Issue(a.secrets[0], Grant(a.config, DefaultSubject, LinkLifetime), time.Now())
	if err != nil {
		return page
	}
	return apidocs.TokenLink(a.BaseURL(), token) + " (valid for an hour)"
}

// showsToken reports whether the banner may contain a token: only a person sees it, on a
// terminal, only programs on this machine can use it, and the server is a trial without a
// configured secret (C4.25).
func (a *App) showsToken() bool {
	c := a.config
	return a.format != logging.JSON && printable.IsTerminal(a.options.Stderr) &&
		c.GeneratesSecret() && c.BaseURL == "" && len(c.ACMEDomains) == 0 &&
		!slices.ContainsFunc(a.listeners.addresses(), func(addr string) bool { return !loopback.IsHost(addr) })
}
