package storage

import "context"

// An Author is on whose behalf a plant is created over HTTP.
type Author struct {
	// Subject is sub of the token, or empty if it has none.
	Subject string
	// RequestID is the X-Request-Id of the answer.
	RequestID string
	// Remote is the address from which the request came, as HOST:PORT.
	Remote string
}

// WithAuthor returns a context for creates on behalf of author.
func WithAuthor(ctx context.Context, author Author) context.Context {
	return &authored{ctx, author}
}

// AuthorOf returns the author in ctx, or nil: then the plant is created by the
// operator, who imports or seeds it.
func AuthorOf(ctx context.Context) *Author {
	author, _ := ctx.Value(authorKey{}).(*Author)
	return author
}

type authorKey struct{}

// An authored context holds its value itself, in one allocation for each create.
type authored struct {
	context.Context

	author Author
}

// Value implements [context.Context].
func (a *authored) Value(key any) any {
	if key == (authorKey{}) {
		return &a.author
	}
	return a.Context.Value(key)
}
