package catalog

import (
	"context"
	"time"
)

// Remote is a [Source] whose tools lie elsewhere: to list them takes time and may
// fail. Nothing is asked of it before somebody wants tools that may be among its
// own, and by [New] never.
type Remote interface {
	Source
	// Namespace is the first segment of the ids of all its tools. No other source has
	// it, and tools of others that it lists are left out, so that it cannot pass for
	// another.
	Namespace() string
}

// Lasting is a [Source] that the broker remembers for it.
type Lasting interface {
	Source
	// Freshness is how long a listing counts as new. Then the source is asked anew
	// behind the scenes, while the old listing goes on to be used.
	Freshness() time.Duration
}

// Versioned is a [Source] that learns by itself that its tools have changed.
type Versioned interface {
	Source
	// Version differs from what it was when the tools were listed if they have to be
	// listed anew. It answers from memory.
	Version() string
}

// Remembering is a [Source] that knows by itself what it listed, so that it need not be
// waited for while that holds.
type Remembering interface {
	Source
	// Remembered is what Tools would return, where it would do so without asking
	// elsewhere; ok is false where it would have to ask. It answers from memory.
	Remembered() (tools []Tool, ok bool)
}

// Scoped is a [Source] whose tools differ by on whose behalf they are listed, such
// as the connections of a tenant. Tools is then not called, and [New] asks nothing.
// No two tenants ever share a listing.
//
// Its tools may be of any namespace that is not a [Remote] source's; one that is a
// Remote too has its namespace to itself, and is asked for that alone.
type Scoped interface {
	Source
	// ListingKey names those of a tenant who share a listing: scopes of one tenant
	// with the same key. It answers from memory.
	ListingKey(scope Scope) string
	// ToolsFor lists the tools for a scope as Tools does without one.
	ToolsFor(ctx context.Context, scope Scope) ([]Tool, error)
}

// Candid is a [Source] that says what the listing that it answered with lacks.
type Candid interface {
	Source
	// Shortfall says, of what was listed last for a scope, why it is what the source had
	// before, if it could not be read anew, and what was left out, and why. It answers
	// from memory.
	Shortfall(scope Scope) (leftOut []string, stale error)
}

// PartialError goes with a listing that lacks a part: the tools beside it count.
type PartialError struct {
	// Parts are what cannot be read. Their Source is a namespace.
	Parts []Unavailable
}

// Error says how many parts are missing, and what of the first.
func (e *PartialError) Error() string {
	if len(e.Parts) == 0 {
		return "a part of the tools cannot be listed"
	}
	return e.Parts[0].Source + ": " + e.Parts[0].Reason
}
