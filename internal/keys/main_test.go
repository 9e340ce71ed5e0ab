package keys

import (
	"testing"

	"plantstore/internal/watchdog"
)

func TestMain(m *testing.M) { watchdog.Main(m) }
