package storage

import "context"

// An Actor is the client on whose behalf a plant is created over HTTP.
type Actor struct {
	// Subject is sub of the token, or empty if it has none.
	Subject string
	// RequestID is the X-Request-Id of the response.
	RequestID string
	// Remote is the address from which the request came, as HOST:PORT.
	Remote string
}

// WithActor returns a context for creates on behalf of actor.
func WithActor(ctx context.Context, actor Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, &actor)
}

// ActorOf returns the actor in ctx, or nil. With an audit log, nil means that the operator
// creates the plant, by an import or a seed; without one, no create has an actor.
func ActorOf(ctx context.Context) *Actor {
	actor, _ := ctx.Value(actorKey{}).(*Actor)
	return actor
}

type actorKey struct{}
