// A backend's side of an agent thread, in JavaScript: what docs/contract.md says,
// on the public Temporal client.

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { WithStartWorkflowOperation } from '@temporalio/client';
import { SearchAttributeType, defineSearchAttributeKey } from '@temporalio/common';

const keyword = (name) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);

const ALL_EVENTS = 1;
const CLOSE_EVENT = 2;
const WORKFLOW_TASK_COMPLETED = 7;

// The gRPC codes of a server or worker that is away or busy for the moment:
// deadline exceeded, resource exhausted, failed precondition, aborted, unavailable.
const TRANSIENT = new Set([4, 8, 9, 10, 14]);

export class Thread {
  // start is a contract.Start: { tenant, thread, agent, user, roles }.
  constructor(client, start, { taskQueue = 'heddle' } = {}) {
    this.client = client;
    this.start = start;
    this.taskQueue = taskQueue;
    this.workflowId = `thread/${start.tenant}/${start.thread}`;
  }

  // send gives the thread a message, opening it if need be, and returns the id of
  // the turn that answers it.
  async send({ id, text }) {
    const { tenant, thread, agent } = this.start;
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
    const submitted = await this.client.workflow.executeUpdateWithStart('submit', {
      args: [{ id, text }],
      updateId: `submit-${id}-${hash}`,
      startWorkflowOperation: new WithStartWorkflowOperation('AgentThread', {
        workflowId: this.workflowId,
        taskQueue: this.taskQueue,
        args: [this.start],
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        staticSummary: `${agent}: ${tenant}/${thread}`,
        typedSearchAttributes: [
          { key: keyword('HeddleTenant'), value: tenant },
          { key: keyword('HeddleAgent'), value: agent },
          { key: keyword('HeddleStatus'), value: 'active' },
        ],
      }),
    });
    return submitted.turn;
  }

  // approve and deny take an approval as the thread shows it.
  approve(approval, by) {
    return this.#decide(approval, { verdict: 'approve', by });
  }

  deny(approval, by, comment) {
    return this.#decide(approval, { verdict: 'deny', by, comment });
  }

  #decide({ id, digest }, decision) {
    return this.#handle().signal('approval', { approval: id, digest, ...decision });
  }

  close(reason) {
    return this.#handle().signal('close', { reason });
  }

  state(runId) {
    return this.#query(runId, 'state');
  }

  // transcript returns all messages that the current run holds.
  async transcript() {
    const messages = [];
    for (let from = 0, page; page === undefined || page.next; from = page.next) {
      page = await this.#query(undefined, 'transcript', { from });
      messages.push(...page.messages);
    }
    return messages;
  }

  // watch yields the parts of the timeline as they come, until the thread is
  // closed. The seq of a part is the cursor to go on from after it.
  async *watch(cursor = 0) {
    for await (const runId of this.#changes()) {
      for await (const part of this.#parts(runId, cursor)) {
        cursor = part.seq;
        yield part;
      }
    }
  }

  // wait returns a turn once it has ended.
  async wait(id) {
    for await (const runId of this.#changes()) {
      const { recent = [] } = await this.state(runId);
      const turn = recent.find((t) => t.id === id);
      if (turn) return turn;
    }
    throw new Error(`the thread ended before turn ${id} did`);
  }

  // #parts yields the parts after a cursor as they are now, those of earlier runs
  // first.
  async *#parts(runId, cursor) {
    for (let page; page === undefined || page.more; cursor = page.cursor) {
      page = await this.#query(runId, 'timeline', { after: cursor });
      const { first = 0, previous_run_id: previousRunId } = page;
      if (first > cursor + 1 && previousRunId) {
        for await (const part of this.#parts(previousRunId, cursor)) {
          if (part.seq < first) yield part;
        }
      }
      yield* page.parts.filter((part) => part.seq >= first);
    }
  }

  // #changes yields the id of the current run now and whenever the thread may
  // answer otherwise than before, and a last time when the thread has ended.
  async *#changes() {
    for (;;) {
      const { runId, status } = await this.#handle().describe();
      if (status.name !== 'RUNNING') {
        yield runId;
        return;
      }
      let token = await this.#endOfHistory(runId);
      do {
        yield runId;
        token = await this.#change(runId, token);
      } while (token.length > 0);
    }
  }

  // #endOfHistory returns a mark at the end of a run's history: a long poll that is
  // about to reach its deadline returns one at once.
  async #endOfHistory(runId) {
    try {
      const soon = Date.now() + 500;
      const page = await this.client.connection.withDeadline(soon, () => this.#history(runId, CLOSE_EVENT));
      return page.nextPageToken;
    } catch {
      return undefined; // then the history is read from its start
    }
  }

  // #change waits for the next change after a mark and returns the mark after it,
  // which is empty when the run has ended.
  async #change(runId, token) {
    for (;;) {
      const page = await patiently(() => this.#history(runId, ALL_EVENTS, token));
      token = page.nextPageToken;
      const changed = page.history.events.some((e) => e.eventType === WORKFLOW_TASK_COMPLETED);
      if (changed || token.length === 0) return token;
    }
  }

  #history(runId, historyEventFilterType, nextPageToken) {
    return this.client.workflowService.getWorkflowExecutionHistory({
      namespace: this.client.options.namespace,
      execution: { workflowId: this.workflowId, runId },
      waitNewEvent: true,
      historyEventFilterType,
      nextPageToken,
    });
  }

  #query(runId, name, ...args) {
    return patiently(() => this.#handle(runId).query(name, ...args));
  }

  #handle(runId) {
    return this.client.workflow.getHandle(this.workflowId, runId);
  }
}

// patiently tries again while the server or the worker is away or busy.
async function patiently(attempt) {
  for (let pause = 5; ; pause = Math.min(2 * pause, 1000)) {
    try {
      return await attempt();
    } catch (err) {
      if (!TRANSIENT.has(err.code ?? err.cause?.code)) throw err;
      await sleep(pause);
    }
  }
}
