/** Limits of issues that need many of them. */
import { expect, test } from 'vitest';
import { noTenant } from '../../src/model/ids.ts';
import { issueId, issuesPerAgentMax, issuesPerTenantMax, otherIssue } from '../../src/model/store/issue-store.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { memoryStore } from '../builders/memory-store.ts';
import { scored, scoredRun } from '../builders/scored-run.ts';
import { nth } from './numbered.ts';

const faultsOfRun = 100;

test('issues: failures beyond the limit of a tenant are one issue of their evaluator', async () => {
  const store = await memoryStore();
  const agents = issuesPerTenantMax / issuesPerAgentMax + 2;
  for (let agent = 0; agent < agents; agent++)
    await store.write(
      Array.from({ length: issuesPerAgentMax / faultsOfRun }, (_, run) => ({
        ...scoredRun({ tool_error: scored(0) }, nth(agent * 10 + run, { trace: agentTrace({ agent: `agent ${agent}` }) })),
        faults: Array.from({ length: faultsOfRun }, (_none, at) => ({ name: 'tool_error', tool: 'book', signature: `${run} ${at}` })),
      })),
    );
  const counts = await store.issues.counts();
  expect(counts).toEqual([{ state: 'open', issues: issuesPerTenantMax + 1 }]);
  const other = issueId({ tenant: noTenant, agent: '', name: 'tool_error', tool: '', signature: otherIssue });
  expect(await store.issues.issue(other)).toMatchObject({ runs: (2 * issuesPerAgentMax) / faultsOfRun });
});
