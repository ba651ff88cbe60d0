package activities

import (
	"math"
	"testing"

	"github.com/heddle-dev/heddle/catalog"
	"github.com/heddle-dev/heddle/signals/contract"
)

func TestProgressIsCounted(t *testing.T) {
	for told, want := range map[catalog.Progress]contract.Progress{
		{Done: 3, Total: 10, Message: "rows"}: {Done: 3, Total: 10, Message: "rows"},
		{Done: 0.25, Total: 1}:                {Done: 25, Total: 100},
		{Done: 2.5, Total: 10}:                {Done: 25, Total: 100},
		{Done: 12, Total: 10.5}:               {Done: 100, Total: 100},
		{Done: 7}:                             {Done: 7},
		{Done: 1e300, Total: 1e300}:           {Done: 100, Total: 100},
		{Done: -1, Total: 10}:                 {},
		{Done: math.Inf(1)}:                   {Done: 1 << 52},
		{Done: 1, Total: math.Inf(1)}:         {Done: 1},
		{Done: math.NaN(), Total: 5}:          {},
		{Done: 5, Total: math.NaN()}:          {Done: 5},
	} {
		if got := counted(told); got != want {
			t.Errorf("%+v is %+v, want %+v", told, got, want)
		}
	}
}
