/** Versions of one agent over time, the comparison of two of them, what changed, and the learnt process. */
import { useGet } from '../api/use-api.ts';
import { AnswerState } from '../parts/answer-state.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { PageFrame } from '../parts/page-frame.tsx';
import { agentOf } from '../parts/page-links.ts';
import { useAddress } from '../parts/use-address.ts';
import type { PageProps } from '../parts/page-path.ts';
import { NotWhole } from './agents.tsx';
import { newestFirst } from './versions/agent-versions.ts';
import { ChangeSection } from './versions/changes.tsx';
import { ComparisonSection } from './versions/comparison.tsx';
import { ProcessSection } from './versions/process-section.tsx';
import { VersionCharts, VersionTable } from './versions/version-table.tsx';

export function Agent({ params }: PageProps) {
  const { query } = useAddress();
  const agent = agentOf(params, query);
  const { version, against } = query;
  const found = useGet('/versions', { query: { agent, version, against } }, { everyMs: 30_000 });
  // A version that is gone from the address leaves the rest of the page.
  const plain = useGet('/versions', { query: { agent } }, { isOff: found.error === undefined });
  const value = found.value ?? plain.value;
  const versions = newestFirst(value?.versions ?? []);
  const comparison = found.value?.comparison ?? null;
  return (
    <PageFrame title={agent} actions={<a href="/agents">All agents</a>}>
      <AnswerState of={{ ...found, value }} what="the versions" />
      {value !== undefined && !value.whole ? <NotWhole /> : null}
      {value !== undefined && versions.length === 0 ? (
        <EmptyState title="No runs of this agent">
          <p>
            Its name must be that of the spans. <a href="/agents">See the agents that have runs.</a>
          </p>
        </EmptyState>
      ) : null}
      {versions.length === 0 ? null : (
        <>
          <ComparisonSection agent={agent} versions={versions} comparison={comparison} />
          {comparison === null ? null : (
            <ChangeSection agent={agent} versions={versions} version={comparison.version} against={comparison.against} />
          )}
          <section class="stack">
            <h2>Versions</h2>
            <VersionTable agent={agent} versions={versions} />
            <VersionCharts versions={versions} />
          </section>
          <ProcessSection agent={agent} version={comparison?.version} />
        </>
      )}
    </PageFrame>
  );
}
