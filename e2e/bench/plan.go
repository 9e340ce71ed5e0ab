package main

import (
	"fmt"

	"plantstore/e2e/internal/wrk"
)

// The programs.
const (
	plantstoreName = "plantstore"
	floorName      = "floor"
	floorPlusName  = "floor+"
	naiveName      = "naive"
	sqliteName     = "SQLite"
)

// A load is what wrk does.
type load struct {
	order   string // of the ids
	clients int
	many    bool // different tokens
	memory  bool // the database is on a file system in memory, where a sync costs nothing
}

// String names the load.
func (l load) String() string {
	suffix := ""
	switch {
	case l.many:
		suffix = ", many tokens"
	case l.memory:
		suffix = ", no disk"
	}
	return fmt.Sprintf("%s ids%s, c=%d", l.order, suffix, l.clients)
}

// A contender is a program and the database with which it starts.
type contender struct {
	program string
	store   *store // nil means a new one for each measurement
	options string // of the program, as NAME=value with spaces between them
	load    load
}

// String names the contender without its load.
func (c contender) String() string {
	name := c.program
	if c.store != nil {
		name += ", " + c.store.name
	}
	if c.options != "" {
		name += ", " + c.options
	}
	return name
}

// A group are contenders that are compared with each other, and are therefore
// measured right after each other.
type group struct {
	name       string
	contenders []contender
}

// clientCounts are the numbers of connections.
func clientCounts() []int { return []int{1, 16, 64, 256} }

// plan returns what is measured on empty stores.
func plan() []group {
	var groups []group
	add := func(l load, programs ...string) {
		g := group{name: l.String()}
		for _, p := range programs {
			g.contenders = append(g.contenders, contender{program: p, load: l})
		}
		groups = append(groups, g)
	}
	for _, c := range clientCounts() {
		add(load{order: wrk.Ascending, clients: c}, plantstoreName, floorName, floorPlusName, naiveName, sqliteName)
	}
	for _, c := range clientCounts() {
		add(load{order: wrk.Scattered, clients: c}, plantstoreName, naiveName)
	}
	add(load{order: wrk.Ascending, clients: 64, many: true}, plantstoreName, floorName, floorPlusName)
	for _, c := range []int{1, 64} {
		add(load{order: wrk.Ascending, clients: c, memory: true}, plantstoreName, floorName, floorPlusName, naiveName)
	}
	for _, c := range []int{64, 256} {
		groups = append(groups, logGroup(c))
	}
	return groups
}

// The contenders of each group of logGroup.
const (
	logNone = iota
	logAccess
	logAudit
)

// logName names a group of logGroup.
func logName(clients int) string { return fmt.Sprintf("logs, c=%d", clients) }

// logGroup compares the server without a line for each request, with the access log,
// and with that of audits alone.
func logGroup(clients int) group {
	l := load{order: wrk.Ascending, clients: clients}
	return group{logName(clients), []contender{
		logNone:   {program: plantstoreName, load: l, options: "LOG_LEVEL=error"},
		logAccess: {program: plantstoreName, load: l},
		logAudit:  {program: plantstoreName, load: l, options: "LOG_LEVEL=error AUDIT_LOG=audit.jsonl"},
	}}
}

// The contenders of each group of storedPlan.
const (
	storedEmpty = iota
	storedSequential
	storedRandom
)

// storedName names a group of storedPlan.
func storedName(clients int) string { return fmt.Sprintf("stored plants, c=%d", clients) }

// storedPlan returns what is measured with plants in the store.
func storedPlan(sequential, random *store) []group {
	groups := make([]group, 0, 2)
	for _, c := range []int{64, 256} {
		up, across := load{order: wrk.Ascending, clients: c}, load{order: wrk.Scattered, clients: c}
		groups = append(groups, group{storedName(c), []contender{
			storedEmpty:      {program: plantstoreName, load: up},
			storedSequential: {program: plantstoreName, load: up, store: sequential},
			storedRandom:     {program: plantstoreName, load: across, store: random},
		}})
	}
	return groups
}
