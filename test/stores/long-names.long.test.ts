/** Names of any characters, as long as they may be, are keys in every kind of store. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tenant } from '../../src/model/ids.ts';
import { withBoundedNames } from '../../src/pipeline/evaluation/bounded-names.ts';
import { agentTrace, call } from '../builders/agent-trace.ts';
import { propertyRuns } from '../builders/property-runs.ts';
import { scored, scoredRun } from '../builders/scored-run.ts';
import { members, open } from './members.ts';
import { nth } from './numbered.ts';

/** Many different characters, so that no compression makes the text short. */
const sign = fc.oneof(
  fc.integer({ min: 0x4e00, max: 0x9fff }),
  fc.integer({ min: 0x1f300, max: 0x1faff }),
  fc.integer({ min: 0x80, max: 0x7ff }),
);
const textOf = (chars: number) =>
  fc.array(sign, { minLength: chars, maxLength: chars }).map((signs) =>
    String.fromCodePoint(...signs)
      .slice(0, chars)
      .toWellFormed(),
  );

/** A little below and above the bound. */
const name = fc.oneof(textOf(490), textOf(600));

/** 2026-11-26T00:00Z. */
const start = 1_795_651_200_000_000;

test.each(members)('store (%s): the longest names of any characters are stored, summed and found', async (member) => {
  const store = await open(member);
  let number = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.record({ agent: name, version: name, session: name, model: name, tool: name }),
      fc.record({ evaluator: textOf(100), task: textOf(100), tenantName: textOf(100), field: textOf(200), other: textOf(200) }),
      async ({ agent, version, session, model, tool }, { evaluator, task, tenantName, field, other }) => {
        number++;
        const own = withBoundedNames({
          ...nth(number),
          tenant: tenant(tenantName),
          serviceVersion: version,
          service: version,
          startUnixNano: BigInt(start) * 1_000n,
          endUnixNano: BigInt(start + 1_000_000) * 1_000n,
          trace: agentTrace({ agent, model, sessionId: session, toolCalls: [call({ name: tool })] }),
        });
        const { traceId, spanId, tenant: of } = own;
        await store.write([{ ...scoredRun({ [evaluator]: scored(1) }, own), figures: { task } }]);
        while (await store.versions.refresh({ now: start, keepFrom: 0 })) {}
        const figures = await store.versions.figures({ agent: own.trace.agent ?? '', tenant: of, kinds: ['pass'], byTask: true });
        expect(figures.some(({ kind, name }) => kind === 'pass' && name === evaluator)).toBe(true);
        const said = { name: field, by: other, kind: 'human', label: field, score: 1, passed: true, explanation: '', at: start } as const;
        const annotation = { ...said, tenant: of, traceId, spanId, toolCall: other };
        expect(await store.annotations.write([annotation], start)).toEqual(['attached']);
        const stored = await store.run(own);
        expect(stored?.annotations).toMatchObject([{ name: field, by: other, toolCall: other }]);
      },
    ),
    { numRuns: propertyRuns({ short: 3, long: 20 }) },
  );
});
