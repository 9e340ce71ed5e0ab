package app

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"plantstore/storage"
)

// notifySystemd notifies systemd, if that has started this process with Type=notify, that
// the server is ready, then that it is alive (WatchdogSec=), and when ctx is done that it
// shuts down.
func notifySystemd(ctx context.Context, store readier, logger *slog.Logger) {
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		logger.Warn("the watchdog of systemd is off", "cause", err.Error())
	}
	s := &supervisor{logger: logger, notify: func(state string) error {
		_, err := daemon.SdNotify(false, state)
		return err
	}}
	s.follow(ctx, interval, store)
}

// A readier returns why a store is not ready, as Ready of [storage.Store].
type readier interface{ Ready() error }

// A supervisor is systemd, as far as it wants to know how the server is.
type supervisor struct {
	notify func(state string) error
	logger *slog.Logger

	mu      sync.Mutex
	failure string // why it could not be told the last time; empty if it could
}

// follow tells it all that happens until ctx is done. It starts the server anew if
// it hears nothing for an interval, unless that is 0.
func (s *supervisor) follow(ctx context.Context, interval time.Duration, store readier) {
	s.tell(daemon.SdNotifyReady)
	context.AfterFunc(ctx, func() { s.tell(daemon.SdNotifyStopping) })
	if interval > 0 {
		go watchdog(ctx, interval/2, store, func() { s.tell(daemon.SdNotifyWatchdog) })
	}
}

// tell tells it one thing. That it cannot be told is logged once, until that changes.
func (s *supervisor) tell(state string) {
	failure := ""
	if err := s.notify(state); err != nil {
		failure = err.Error()
	}
	s.mu.Lock()
	same := failure == s.failure
	s.failure = failure
	s.mu.Unlock()
	if !same && failure != "" {
		s.logger.Warn("systemd cannot be told how the server is", "state", state, "cause", failure)
	}
}

// watchdog calls alive at each interval as long as the store answers and its
// commits end, until ctx is done. A store that has stopped itself ends the server
// anyway; one that is only out of reach is no reason to start it anew.
func watchdog(ctx context.Context, interval time.Duration, store readier, alive func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		if !errors.Is(store.Ready(), storage.ErrCommitHangs) {
			alive()
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
