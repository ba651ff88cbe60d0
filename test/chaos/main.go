package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// envRole marks a process of this program that is to be a worker.
const envRole = "CHAOS_ROLE"

func main() {
	if os.Getenv(envRole) == "worker" {
		runWorker()
		return
	}
	var b bench
	flag.Float64Var(&b.minutes, "minutes", 10, "how long processes are struck; threads then come to their end")
	flag.IntVar(&b.threads, "threads", 150, "how many threads there are, begun evenly over that time")
	flag.Uint64Var(&b.seed, "seed", 0, "what the threads do, the target's faults and the strikes follow from it; 0: a random one")
	flag.IntVar(&b.kills, "kills", 0, "how many workers are killed at least, however long that takes")
	flag.DurationVar(&b.pace, "pace", 3*time.Second, "the mean time between two strikes")
	flag.StringVar(&b.dir, "dir", "", "a folder for logs and databases, which stays; empty: a temporary one")
	target := flag.String("target", "", "be the target at this address; the bench starts it so")
	database := flag.String("target-database", "", "the target's database")
	flag.Parse()
	if *target != "" {
		exit(runTarget(*target, *database, b.seed))
	}
	exit(b.run())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// bench is one run.
type bench struct {
	minutes float64
	threads int
	seed    uint64
	kills   int
	pace    time.Duration
	dir     string
}

// drain is how long no thread may come to its end, once nobody is struck any more,
// before those that are left are taken for stuck.
const drain = 10 * time.Minute

var errFailed = errors.New("a promise is broken, see above")

func (b *bench) run() (err error) {
	if b.minutes <= 0 || b.threads <= 0 || b.pace <= 0 || flag.NArg() > 0 {
		return errors.New("-minutes, -threads and -pace must be more than 0, and there are no arguments; -help lists the flags")
	}
	if b.seed == 0 {
		b.seed = rand.Uint64()
	}
	fmt.Fprintf(os.Stderr, "chaos: seed %d, %d threads, %g minutes\n", b.seed, b.threads, b.minutes)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if b.dir == "" {
		if b.dir, err = os.MkdirTemp("", "heddle-chaos-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	}
	scripts := filepath.Join(b.dir, "scripts")
	if err := os.MkdirAll(scripts, 0o755); err != nil {
		return err
	}
	stories, err := writeStories(b.seed, b.threads, scripts)
	if err != nil {
		return err
	}
	s, err := newStage(ctx, b.dir, b.seed)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	began := time.Now()
	ends, struck := b.play(ctx, s, stories)
	if err := errors.Join(ctx.Err(), struck.err); err != nil {
		return err
	}
	v, err := s.judge(ctx, os.Stderr, ends, struck)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "chaos:", v.sum(time.Since(began)))
	if err := json.NewEncoder(os.Stdout).Encode(v); err != nil {
		return err
	}
	if v.fails() {
		return errFailed
	}
	return nil
}

// play lets all threads live through their stories while the actors are struck.
func (b *bench) play(ctx context.Context, s *stage, stories []story) ([]ended, *strikes) {
	length := time.Duration(b.minutes * float64(time.Minute))
	living, stop := context.WithCancel(ctx)
	defer stop()
	giveUp := time.AfterFunc(length+drain, stop)
	go s.approve(living)
	go s.lookAfter(living)

	began := time.Now()
	ends := make([]ended, len(stories))
	var over atomic.Int64
	var threads sync.WaitGroup
	for i, of := range stories {
		threads.Go(func() {
			defer func() {
				over.Add(1)
				giveUp.Reset(max(time.Until(began.Add(length)), 0) + drain)
			}()
			// Some time is left for the last to be struck too.
			wait(living, length*time.Duration(i)*9/time.Duration(10*len(stories)))
			turns, err := s.tell(living, of)
			ends[i] = ended{of, turns, err}
		})
	}
	go report(living, os.Stderr, &over, len(stories))
	struck := s.strike(ctx, b.pace, began.Add(length), b.kills)
	threads.Wait()
	return ends, struck
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// report says now and then how far it is.
func report(ctx context.Context, out io.Writer, over *atomic.Int64, of int) {
	for {
		wait(ctx, 15*time.Second)
		if ctx.Err() != nil {
			return
		}
		fmt.Fprintf(out, "chaos: %s %d of %d threads are over\n", time.Now().Format(time.TimeOnly), over.Load(), of)
	}
}
