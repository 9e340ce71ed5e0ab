package auth

import (
	"testing"

	"plantstore/internal/watchdog"
)

func TestMain(m *testing.M) { watchdog.Main(m) }
