/** The first page: is anything worse than it was, and is anything wrong with the service. Worst first. */
import { type ComponentChildren, Fragment } from 'preact';
import type { GetAnswer } from '../api/client.ts';
import { useGet } from '../api/use-api.ts';
import { pageAddress, pickedQuery, type Query } from '../parts/address.ts';
import { AnswerState } from '../parts/answer-state.tsx';
import { Figure } from '../parts/figure.tsx';
import { costText, countText, durationText, percentText, shortCountText, unknownText } from '../parts/format.ts';
import { PageFrame } from '../parts/page-frame.tsx';
import { Sparkline } from '../parts/sparkline.tsx';
import { TableFrame } from '../parts/table-frame.tsx';
import { rangeParameters } from '../parts/time-range.ts';
import { useTimeRange } from '../parts/time-range-picker.tsx';
import { useAddress } from '../parts/use-address.ts';
import { FirstSteps } from './runs/first-steps.tsx';
import { FiringAlerts } from './overview/firing-alerts.tsx';
import { NewIssues } from './overview/new-issues.tsx';
import { Notices, UnrecognisedSpans } from './overview/notices.tsx';

type Agent = GetAnswer<'/overview'>['agents'][number];
type AgentEvaluator = Agent['evaluators'][number];

/** Figures of the last minutes move. */
const everyMs = 30_000;

export function Overview() {
  const { query } = useAddress();
  const range = useTimeRange();
  const found = useGet('/overview', { query: { from: range.from, to: range.to } }, { everyMs });
  const notices = useGet('/notices', {}, { everyMs });
  const { value, reload } = found;
  const kept = pickedQuery(query, rangeParameters);
  return (
    <PageFrame title="Overview">
      <Notices of={notices} />
      <FiringAlerts />
      <NewIssues since={range.from} />
      <AnswerState of={found} what="the agents" />
      {value === undefined ? null : value.agents.length === 0 ? (
        <FirstSteps onLoaded={reload} />
      ) : (
        <>
          <p class="dim small">
            {range.title}, against the period of the same length before it. Intervals hold the true rate in {percentText(value.confidence)}{' '}
            of the cases; a change is named only where its interval leaves out zero.
            {value.whole ? '' : ' Some runs are not counted yet.'}
          </p>
          <div class="agents">
            {value.agents.map((agent) => (
              <AgentCard key={agent.agent ?? ''} agent={agent} kept={kept} />
            ))}
          </div>
          {value.next === null ? null : <p class="dim">The list shows the worst {value.agents.length} agents.</p>}
        </>
      )}
      <UnrecognisedSpans of={notices} />
    </PageFrame>
  );
}

function AgentCard({ agent, kept }: { readonly agent: Agent; readonly kept: Query }) {
  const name = agent.agent ?? 'runs without an agent';
  const runs = (more: Query = {}): string => pageAddress('/runs', { ...kept, agent: agent.agent ?? undefined, ...more });
  const tools = pageAddress('/tools', { ...kept, agent: agent.agent ?? undefined });
  return (
    <section class="card stack agent" aria-label={name}>
      <header class="row spread">
        <h2>{agent.agent === null ? name : <a href={runs()}>{name}</a>}</h2>
        <Sparkline
          values={agent.steps.map((step) => step.runs)}
          min={0}
          label={`Runs over time: ${agent.steps.map((step) => step.runs).join(', ')}`}
        />
      </header>
      <dl class="facts">
        <Fact name="Runs" value={countText(agent.runs)} note={`before: ${countText(agent.runs_before)}`} />
        <Fact
          name="Runs with a failed verdict"
          value={<a href={runs({ verdict: 'fail' })}>{countText(agent.failed_runs)}</a>}
          note={agent.runs === 0 ? '' : percentText(agent.failed_runs / agent.runs)}
        />
        <Fact
          name="Ended in an error"
          value={<a href={runs({ status: 'error' })}>{countText(agent.error_runs)}</a>}
          note={agent.runs === 0 ? '' : percentText(agent.error_runs / agent.runs)}
        />
        {agent.paused_runs === 0 ? null : (
          <Fact name="Paused" value={<a href={runs({ status: 'paused' })}>{countText(agent.paused_runs)}</a>} />
        )}
        <Fact
          name="Duration, median"
          value={durationText(agent.duration_seconds.p50)}
          note={`p95: ${durationText(agent.duration_seconds.p95)}`}
        />
        <Fact name="Tokens in / out" value={`${shortCountText(agent.input_tokens)} / ${shortCountText(agent.output_tokens)}`} />
        <Fact
          name="Cost"
          value={costText(agent.cost_usd)}
          note={agent.costed_runs < agent.runs && agent.cost_usd !== null ? `of ${countText(agent.costed_runs)} runs` : ''}
        />
        <Fact
          name="Tool calls with an error"
          value={agent.tool_calls === 0 ? unknownText : <a href={tools}>{percentText(agent.tool_errors / agent.tool_calls)}</a>}
          note={agent.tool_calls === 0 ? 'no tool calls' : `${countText(agent.tool_errors)} of ${countText(agent.tool_calls)}`}
        />
      </dl>
      {agent.evaluators.length === 0 ? (
        <p class="dim">No evaluator passed or failed a run in this time.</p>
      ) : (
        <TableFrame label={`Pass rates of ${name}`}>
          <table class="data">
            <caption class="visually-hidden">Pass rates of {name}</caption>
            <thead>
              <tr>
                <th scope="col">Evaluator</th>
                <th scope="col" class="number">
                  Pass rate
                </th>
                <th scope="col">Change</th>
                <th scope="col" class="number">
                  Failed
                </th>
              </tr>
            </thead>
            <tbody>
              {agent.evaluators.map((evaluator) => (
                <EvaluatorRow
                  key={evaluator.evaluator}
                  evaluator={evaluator}
                  href={runs({ evaluator: evaluator.evaluator, verdict: 'fail' })}
                  over={pageAddress('/evaluators', { ...kept, agent: agent.agent ?? undefined, evaluator: evaluator.evaluator })}
                />
              ))}
            </tbody>
          </table>
        </TableFrame>
      )}
    </section>
  );
}

interface EvaluatorRowProps {
  readonly evaluator: AgentEvaluator;
  /** Address of the failed runs. */
  readonly href: string;
  /** Address of its rate over time. */
  readonly over: string;
}

function EvaluatorRow({ evaluator, href, over }: EvaluatorRowProps) {
  const { rate, low, high, passed, failed, before, change } = evaluator;
  return (
    <tr>
      <td>
        <a href={over}>
          {evaluator.evaluator.split(/(?<=_)/).map((part, at) => (
            // A line breaks behind an underscore, and not within a word.
            <Fragment key={at}>
              {at === 0 ? null : <wbr />}
              {part}
            </Fragment>
          ))}
        </a>
      </td>
      <td class="number">
        <Figure value={rate} low={low} high={high} n={passed + failed} why={evaluator.not_estimable?.explanation} />
      </td>
      <td>
        {change === null ? (
          <span class="dim small">{before === null ? 'new' : 'no change shown'}</span>
        ) : (
          <Change difference={change.difference} low={change.low} high={change.high} />
        )}
      </td>
      <td class="number">{failed === 0 ? 0 : <a href={href}>{countText(failed)}</a>}</td>
    </tr>
  );
}

function Change({ difference, low, high }: { readonly difference: number; readonly low: number; readonly high: number }) {
  const isWorse = difference < 0;
  return (
    <span class={`chip ${isWorse ? 'fail' : 'pass'}`}>
      <span aria-hidden="true">{isWorse ? '▼' : '▲'}</span>
      <span>
        {isWorse ? 'worse' : 'better'} by {pointsText(Math.abs(difference))}
        <span class="change-interval">
          {' '}
          ({pointsText(isWorse ? -high : low)} to {pointsText(isWorse ? -low : high)})
        </span>
      </span>
    </span>
  );
}

/** Percentage points. */
function pointsText(share: number): string {
  return `${Math.round(share * 1_000) / 10} pp`;
}

function Fact({ name, value, note = '' }: { readonly name: string; readonly value: ComponentChildren; readonly note?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value} {note === '' ? null : <span class="dim small">{note}</span>}
      </dd>
    </div>
  );
}
