// A thread of the support agent from a Node backend. It needs a Temporal server, a
// worker of the example in examples/support, and in the environment:
//
//   TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE   where the server is
//   HEDDLE_TASK_QUEUE                      that of the worker
//   HEDDLE_AGENT, HEDDLE_TENANT            whom to talk to, and for whom

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';

import { Client, Connection, WorkflowUpdateFailedError } from '@temporalio/client';

import { Thread } from './thread.js';

const {
  TEMPORAL_ADDRESS: address = '127.0.0.1:7233',
  TEMPORAL_NAMESPACE: namespace = 'default',
  HEDDLE_TASK_QUEUE: taskQueue = 'heddle',
  HEDDLE_AGENT: agent = 'support',
  HEDDLE_TENANT: tenant = 'acme',
} = process.env;

const MESSAGE = 'A mug of my order arrived broken. Can I have my money back?';

let client;

before(async () => {
  client = new Client({ connection: await Connection.connect({ address, connectTimeout: '1 minute' }), namespace });
});

after(() => client.connection.close());

function newThread(overrides) {
  const start = { tenant, thread: randomUUID(), agent, user: 'ada@example.com', ...overrides };
  return new Thread(client, start, { taskQueue });
}

// approval returns the first approval that the thread waits for.
async function approval(thread) {
  for await (const part of thread.watch()) {
    if (part.kind === 'approval' && part.status === 'waiting') return part.approval;
  }
  throw new Error('the thread ended without asking for approval');
}

test('a refund is approved by signal', async () => {
  const thread = newThread();
  const message = { id: 'm-1', text: MESSAGE };
  const turn = await thread.send(message);
  assert.equal(turn, 't1');
  assert.equal(await thread.send(message), turn, 'the same message begins no second turn');

  const asked = await approval(thread);
  assert.equal(asked.tool, 'orders.refund');
  assert.ok(asked.digest && asked.preview, 'a person can see what is asked');
  assert.equal((await thread.state()).status, 'waiting');

  // Who watches from here on sees the decision and all that follows.
  const watched = [];
  const watching = (async () => {
    for await (const part of thread.watch()) watched.push(part);
  })();
  await thread.approve(asked, 'eve');
  const ended = await thread.wait(turn);
  assert.equal(ended.status, 'completed');
  assert.match(ended.answer, /refunded/);

  const messages = await thread.transcript();
  assert.equal(messages[0].role, 'user');
  assert.equal(messages[0].text, MESSAGE);
  assert.equal(messages.at(-1).role, 'assistant');
  assert.equal(messages.at(-1).index, messages.length - 1);
  assert.equal(messages[ended.answer_index].text, messages.at(-1).text);

  await thread.close('done');
  await watching;
  const decided = watched.find((part) => part.id === asked.id && part.status === 'done');
  assert.equal(decided?.decision.by, 'eve');
  for (let i = 1; i < watched.length; i++) {
    assert.ok(watched[i].seq > watched[i - 1].seq, 'parts come in order');
  }
});

test('a refund is denied by signal', async () => {
  const thread = newThread();
  const turn = await thread.send({ id: 'm-1', text: MESSAGE });
  await thread.deny(await approval(thread), 'eve', 'the warranty is over');
  const ended = await thread.wait(turn);
  assert.equal(ended.status, 'completed');
  assert.match(ended.answer, /could not/);
  await thread.close();
});

test('a refusal has a type', async () => {
  const thread = newThread();
  await thread.send({ id: 'm-1', text: 'Hello.' });
  await assert.rejects(thread.send({ id: 'm-1', text: 'Something else.' }), (err) => {
    assert.ok(err instanceof WorkflowUpdateFailedError);
    assert.equal(err.cause.type, 'submission_conflict');
    return true;
  });
  await thread.close();
});
