/** When runs close: by accounting, under a clock that stands still until it is moved. */
import { describe, expect, test } from 'vitest';
import { defaultClosing } from '../../../src/pipeline/gathering/close-policy.ts';
import { agentSpan, choiceRecord, modelSpan, modelSpanWithRecords, toolSpan } from '../../builders/gen-ai-spans.ts';
import { gathered, type Gathered } from '../../builders/gathered.ts';
import { remoteParent, span } from '../../builders/spans.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

interface Case {
  readonly name: string;
  readonly script: (to: Gathered) => void;
  readonly closed: readonly string[];
}

const ask = { id: 'c1', name: 't', arguments: { x: 1 } };

const cases: readonly Case[] = [
  {
    name: 'a balanced run closes `settle` after its last span',
    script: (to) => {
      to.spans(modelSpan({ id: 2, parent: 1 }));
      to.pass(200);
      to.spans(agentSpan({ id: 1 }));
      to.pass(minute);
    },
    closed: ['700 ms: run 1, complete, revision 1'],
  },
  {
    name: 'a silence of any length closes nothing before the agent span arrives',
    script: (to) => {
      to.spans(modelSpan({ id: 2, parent: 1, asks: [ask] }));
      to.pass(30 * second);
      to.spans(toolSpan({ id: 3, parent: 1, call: 'c1' }));
      to.pass(9 * minute);
      to.spans(modelSpan({ id: 4, parent: 1, says: 'done' }));
      to.pass(9 * minute);
      to.spans(agentSpan({ id: 1 }));
      to.pass(minute);
    },
    closed: ['1110500 ms: run 1, complete, revision 1'],
  },
  {
    name: 'a span whose parent is missing keeps the run open for `quiet`; the parent makes revision 2, complete',
    script: (to) => {
      to.spans(agentSpan({ id: 1, start: 0, end: 100 }), toolSpan({ id: 3, parent: 2, start: 5, call: 'c1' }));
      to.pass(minute);
      to.spans(span({ id: 2, parent: 1, start: 4 }));
      to.pass(minute);
    },
    closed: ['5000 ms: run 1, partial, revision 1', '60500 ms: run 1, complete, revision 2'],
  },
  {
    name: 'a parent that arrives in time leaves one complete run',
    script: (to) => {
      to.spans(agentSpan({ id: 1, start: 0, end: 100 }), toolSpan({ id: 3, parent: 2, start: 5 }));
      to.pass(4 * second);
      to.spans(span({ id: 2, parent: 1, start: 4 }));
      to.pass(minute);
    },
    closed: ['4500 ms: run 1, complete, revision 1'],
  },
  {
    name: 'a tool call without an answer keeps the run open for `quiet`; its tool span makes revision 2, complete',
    script: (to) => {
      to.spans(agentSpan({ id: 1 }), modelSpan({ id: 2, parent: 1, asks: [ask] }));
      to.pass(minute);
      to.spans(toolSpan({ id: 3, parent: 1, call: 'c1' }));
      to.pass(minute);
    },
    closed: ['5000 ms: run 1, partial, revision 1', '60500 ms: run 1, complete, revision 2'],
  },
  {
    name: 'a tool call that the next request answers is answered',
    script: (to) => {
      to.spans(
        agentSpan({ id: 1 }),
        modelSpan({ id: 2, parent: 1, user: 'q', asks: [ask] }),
        modelSpan({ id: 3, parent: 1, user: 'q', told: [{ id: 'c1', response: 'r' }], says: 'done' }),
      );
      to.pass(minute);
    },
    closed: ['500 ms: run 1, complete, revision 1'],
  },
  {
    name: 'content that travels in log records is awaited for `quiet`; the records make revision 2, complete',
    script: (to) => {
      to.spans(agentSpan({ id: 1 }), modelSpanWithRecords({ id: 2, parent: 1 }));
      to.pass(minute);
      to.records(choiceRecord({ span: 2, text: 'done' }));
      to.pass(minute);
    },
    closed: ['5000 ms: run 1, partial, revision 1', '60500 ms: run 1, complete, revision 2'],
  },
  {
    name: 'log records that come before the spans are joined to them',
    script: (to) => {
      to.records(choiceRecord({ span: 2, text: 'done' }));
      to.pass(second);
      to.spans(agentSpan({ id: 1 }), modelSpanWithRecords({ id: 2, parent: 1 }));
      to.pass(minute);
    },
    closed: ['1500 ms: run 1, complete, revision 1'],
  },
  {
    name: 'without an agent span or root only `abandon` after the last span closes it',
    script: (to) => {
      to.spans(modelSpan({ id: 2, parent: 1 }));
      to.pass(8 * minute);
      to.spans(modelSpan({ id: 3, parent: 1 }));
      to.pass(20 * minute);
    },
    closed: ['1080000 ms: run 1, abandoned, revision 1'],
  },
  {
    name: 'a local root replaces an agent span',
    script: (to) => {
      to.spans(span({ id: 1, name: 'POST /chat', kind: 2 }), modelSpan({ id: 2, parent: 1 }));
      to.pass(minute);
    },
    closed: ['500 ms: run 1, complete, revision 1'],
  },
  {
    name: 'a sub-agent closes when its own work is done, and its agent when all is',
    script: (to) => {
      to.spans(modelSpan({ id: 4, parent: 3 }), agentSpan({ id: 3, parent: 2 }), toolSpan({ id: 2, parent: 1, tool: 'ask_expert' }));
      to.pass(2 * minute);
      to.spans(agentSpan({ id: 1 }));
      to.pass(minute);
    },
    closed: [
      '5000 ms: run 3, complete, revision 1',
      '120500 ms: run 1, complete, revision 1',
      '120500 ms: run 3 under 1, complete, revision 2',
    ],
  },
  {
    name: 'a sub-agent of a trace in which spans never cease to come closes all the same, within `quiet` of when it could',
    script: (to) => {
      to.spans(modelSpan({ id: 4, parent: 3 }), agentSpan({ id: 3, parent: 2 }), toolSpan({ id: 2, parent: 1 }));
      for (let id = 100; id < 200; id++) {
        to.pass(400);
        to.spans(modelSpan({ id, parent: 1 }));
      }
      to.spans(agentSpan({ id: 1 }));
      to.pass(minute);
    },
    closed: [
      '5000 ms: run 3, complete, revision 1',
      '40500 ms: run 1, complete, revision 1',
      '40500 ms: run 3 under 1, complete, revision 2',
    ],
  },
  {
    name: 'a parent that arrives later turns a separate run into a sub-agent, as revision 2 under the same key',
    script: (to) => {
      to.spans(agentSpan({ id: 2, parent: 1 }));
      to.pass(minute);
      to.spans(agentSpan({ id: 1 }), modelSpan({ id: 3, parent: 1 }));
      to.pass(minute);
    },
    closed: [
      '5000 ms: run 2, complete, revision 1',
      '60500 ms: run 1, complete, revision 1',
      '60500 ms: run 2 under 1, complete, revision 2',
    ],
  },
  {
    name: 'a parent in another process is not waited for',
    script: (to) => {
      to.spans(agentSpan({ id: 2, parent: 1, flags: remoteParent }));
      to.pass(minute);
    },
    closed: ['500 ms: run 2, complete, revision 1'],
  },
  {
    name: 'two agents under one parent in another process do not wait for each other',
    script: (to) => {
      to.spans(
        agentSpan({ id: 2, parent: 1, start: 0, end: 50, flags: remoteParent }),
        agentSpan({ id: 3, parent: 1, start: 10, end: 60, flags: remoteParent }),
      );
      to.pass(minute);
    },
    closed: ['500 ms: run 2, complete, revision 1', '500 ms: run 3, complete, revision 1'],
  },
  {
    name: 'a run keeps the key that it first closed under, also when a better span to hang it on arrives',
    script: (to) => {
      to.spans(span({ id: 1, attributes: { 'gen_ai.operation.name': 'invoke_workflow' } }));
      to.pass(minute);
      to.spans(agentSpan({ id: 2, parent: 1 }), agentSpan({ id: 4, parent: 3 }));
      to.pass(minute);
      to.spans(toolSpan({ id: 3, parent: 2 }));
      to.pass(minute);
    },
    closed: [
      '500 ms: run 1, complete, revision 1',
      '60500 ms: run 4 under 1, complete, revision 1',
      '65000 ms: run 1, partial, revision 2',
      '120500 ms: run 1, complete, revision 3',
    ],
  },
  {
    name: 'an abandoned run is revised under its key when its agent arrives after all',
    script: (to) => {
      to.spans(toolSpan({ id: 3, parent: 2 }));
      to.pass(11 * minute);
      to.spans(span({ id: 2, parent: 1 }), agentSpan({ id: 1 }));
      to.pass(minute);
    },
    closed: ['600000 ms: run 2, abandoned, revision 1', '660500 ms: run 2, complete, revision 2'],
  },
  {
    name: 'a late span makes the next revision',
    script: (to) => {
      to.spans(agentSpan({ id: 1 }));
      to.pass(50 * minute);
      to.spans(toolSpan({ id: 2, parent: 1 }));
      to.pass(50 * minute);
      to.spans(toolSpan({ id: 3, parent: 1 }));
      to.pass(50 * minute);
    },
    closed: ['500 ms: run 1, complete, revision 1', '3000500 ms: run 1, complete, revision 2', '6000500 ms: run 1, complete, revision 3'],
  },
  {
    name: 'a late span that changes nothing makes no revision',
    script: (to) => {
      to.spans(agentSpan({ id: 1 }));
      to.pass(minute);
      to.spans(span({ id: 2, parent: 1 }));
      to.pass(minute);
    },
    closed: ['500 ms: run 1, complete, revision 1'],
  },
  {
    name: 'after `late` no span founds a new run',
    script: (to) => {
      to.spans(agentSpan({ id: 1 }));
      to.pass(hour + minute);
      to.spans(agentSpan({ id: 2 }), toolSpan({ id: 3, parent: 1 }));
      to.pass(hour);
    },
    closed: ['500 ms: run 1, complete, revision 1'],
  },
  {
    name: 'the end of the process closes what is open as what it is',
    script: (to) => {
      to.spans(
        agentSpan({ id: 1, trace: 1 }),
        agentSpan({ id: 2, trace: 2 }),
        modelSpan({ id: 3, trace: 2, parent: 2, asks: [ask] }),
        modelSpan({ id: 5, trace: 3, parent: 4 }),
        span({ id: 6, trace: 4 }),
      );
      to.closeAll();
    },
    closed: ['0 ms: run 1, complete, revision 1', '0 ms: run 2, partial, revision 1', '0 ms: run 4, abandoned, revision 1'],
  },
];

/** With the times that hold where `settle` is left out. */
const batches: readonly Case[] = [
  {
    name: 'a run whose spans come in one request closes after 50 ms',
    script: (to) => {
      to.spans(modelSpan({ id: 2, parent: 1 }), agentSpan({ id: 1 }));
      to.pass(minute);
    },
    closed: ['50 ms: run 1, complete, revision 1'],
  },
  {
    name: 'after several spans in one request, a span in another one shows that requests may overtake one another',
    script: (to) => {
      to.spans(modelSpan({ id: 2, parent: 1 }), toolSpan({ id: 3, parent: 1 }));
      to.pass(second);
      to.spans(agentSpan({ id: 1 }));
      to.pass(minute);
    },
    closed: ['1500 ms: run 1, complete, revision 1'],
  },
  {
    name: 'a second request within 50 ms makes the run wait for a third',
    script: (to) => {
      to.spans(toolSpan({ id: 5, parent: 1 }), agentSpan({ id: 1 }));
      to.pass(40);
      to.spans(modelSpan({ id: 2, parent: 1 }), toolSpan({ id: 3, parent: 1 }));
      to.pass(minute);
    },
    closed: ['540 ms: run 1, complete, revision 1'],
  },
  {
    name: 'a batch that the last one overtook by 120 ms makes a revision, when nothing announced it',
    script: (to) => {
      to.spans(toolSpan({ id: 5, parent: 1 }), agentSpan({ id: 1 }));
      to.pass(120);
      to.spans(modelSpan({ id: 2, parent: 1 }), toolSpan({ id: 3, parent: 1 }));
      to.pass(minute);
    },
    closed: ['50 ms: run 1, complete, revision 1', '620 ms: run 1, complete, revision 2'],
  },
  {
    name: 'a batch that the last one overtook is waited for while its request is being received',
    script: (to) => {
      to.spans(toolSpan({ id: 5, parent: 1 }), agentSpan({ id: 1 }));
      to.receive(() => true);
      to.pass(120);
      to.spans(modelSpan({ id: 2, parent: 1 }), toolSpan({ id: 3, parent: 1 }));
      to.receive(() => false);
      to.pass(minute);
    },
    closed: ['620 ms: run 1, complete, revision 1'],
  },
  {
    name: 'a request that is being received delays a run to 500 ms at most',
    script: (to) => {
      to.receive(() => true);
      to.spans(modelSpan({ id: 2, parent: 1 }), agentSpan({ id: 1 }));
      to.pass(minute);
    },
    closed: ['500 ms: run 1, complete, revision 1'],
  },
  {
    name: 'late spans that come one by one make one revision',
    script: (to) => {
      to.spans(modelSpan({ id: 2, parent: 1 }), agentSpan({ id: 1 }));
      for (const id of [10, 11, 12]) {
        to.pass(100);
        to.spans(toolSpan({ id, parent: 1 }));
      }
      to.pass(minute);
    },
    closed: ['50 ms: run 1, complete, revision 1', '800 ms: run 1, complete, revision 2'],
  },
  {
    name: 'requests with one span each may overtake one another',
    script: (to) => {
      to.spans(modelSpan({ id: 2, parent: 1 }));
      to.spans(agentSpan({ id: 1 }));
      to.pass(200);
      to.spans(toolSpan({ id: 3, parent: 1 }));
      to.pass(minute);
    },
    closed: ['700 ms: run 1, complete, revision 1'],
  },
  {
    name: 'one span of each of two traces in a request shows no batch of either',
    script: (to) => {
      to.spans(agentSpan({ id: 1 }), agentSpan({ id: 4, trace: 2 }));
      to.pass(minute);
    },
    closed: ['500 ms: run 1, complete, revision 1', '500 ms: run 4, complete, revision 1'],
  },
  {
    name: 'log records come from an exporter with separate times',
    script: (to) => {
      to.records(choiceRecord({ span: 2, text: 'done' }));
      to.spans(agentSpan({ id: 1 }), modelSpanWithRecords({ id: 2, parent: 1 }));
      to.pass(minute);
    },
    closed: ['500 ms: run 1, complete, revision 1'],
  },
  {
    name: 'what is missing is awaited for `quiet` also in batches',
    script: (to) => {
      to.spans(agentSpan({ id: 1 }), modelSpan({ id: 2, parent: 1, asks: [ask] }));
      to.pass(minute);
    },
    closed: ['5000 ms: run 1, partial, revision 1'],
  },
];

describe('group', () => {
  for (const { name, script, closed } of batches) {
    test(`group: ${name}`, () => {
      const to = gathered({}, defaultClosing);
      script(to);
      expect(to.closed()).toEqual(closed);
    });
  }

  for (const { name, script, closed } of cases) {
    test(`group: ${name}`, () => {
      const to = gathered();
      script(to);
      expect(to.closed()).toEqual(closed);
    });
  }
});
