// Package attack holds attacks on the real binary as tests: by clients with and
// without a token, by other users of the machine, by peers that lie, and by files.
// SECURITY.md lists them. These were possible before 1.1.0:
//
//	| Attack                                              | Test                                                  |
//	| --------------------------------------------------- | ----------------------------------------------------- |
//	| choosing the secret or .env by a link or a file     | TestGeneratedSecretOfOthers, TestDotenvOfOthers       |
//	| making /livez fail by idle connections              | TestCrowd in e2e/admin                                |
//	| a subject like a token: hidden, and in one bucket   | TestSubjectLikeToken                                  |
//	| memory by tokens with a large scope or subject      | TestLargeCredentialsTakeNoMemory, TestLongSubjectIsRefused |
//	| tokens of an issuer without keys, or out of reach   | TestEmptyKeySetRevokes; internal/auth TestOldKeysAreRemoved |
//	| memory of a command by an endless control socket    | TestEndlessControlSocket                              |
//	| a long .env, or a FIFO in its place                 | TestLongFiles, TestFIFOs                              |
//	| megabytes of messages by a file of bad lines        | TestImportPrintsLittle                                |
//	| a secret or URL in an error, in the place of a FILE | TestSecretAsFileName                                  |
//	| a failed shutdown by a client that never reads      | TestShutdownWithDeafClient                            |
package attack

import (
	"os"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
)

// patience bounds every wait; it is far above the usual duration.
const patience = 5 * time.Minute

func TestMain(m *testing.M) {
	if dir := os.Getenv(swapEnv); dir != "" {
		os.Exit(swap(dir))
	}
	os.Exit(plantstore.Main(m))
}
