package fault

import (
	"context"
	"errors"
)

func contextKind(err error) Kind {
	switch {
	case errors.Is(err, context.Canceled):
		return Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return Deadline
	}
	return Internal
}
