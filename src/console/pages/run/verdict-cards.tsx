/** The verdicts on a run as cards, worst first, and the evaluators that have none. */
import { useState } from 'preact/hooks';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/use-api.ts';
import { AnswerState } from '../../parts/answer-state.tsx';
import { DocText } from '../../parts/doc-text.tsx';
import { costText, countText, percentText, scoreText } from '../../parts/format.ts';
import { evidenceLinks } from '../../parts/run/evidence.ts';
import { JsonView } from '../../parts/run/json-view.tsx';
import { LongText } from '../../parts/run/long-text.tsx';
import { notScored } from '../../parts/run/not-scored.ts';
import { worstFirst } from '../../parts/verdict.ts';
import { VerdictChip } from '../../parts/verdict-chip.tsx';
import { judgeFacts } from './judge-facts.ts';

type Run = Schemas['Run'];
type Verdict = Schemas['Verdict'];

/** Target of a link in the evidence. */
export interface Target {
  readonly spanId: string | undefined;
  readonly call: number | undefined;
}

export interface VerdictCardsProps {
  readonly run: Run;
  /** Label of a span of the timeline. */
  readonly nameOf: (spanId: string) => string | undefined;
  /** `undefined`: the store has nothing of the run that a link could open. */
  readonly onOpen: ((target: Target) => void) | undefined;
}

/** Beyond this number, passed verdicts are folded into a line. */
const cardsMax = 6;
/** Links that stand without asking. */
const linksMax = 6;

export function VerdictCards({ run, nameOf, onOpen }: VerdictCardsProps) {
  const scored = worstFirst(run.verdicts.filter(({ status }) => status !== 'skipped'));
  const cards = scored.length <= cardsMax ? scored : scored.filter(({ passed }) => passed !== true);
  const passes = scored.filter((verdict) => !cards.includes(verdict));
  const others = notScored(run.decisions ?? [], new Map(run.verdicts.map(({ name, explanation = '' }) => [name, explanation])));
  const rest = others.filter(({ name }) => !scored.some((verdict) => verdict.name === name));
  return (
    <section class="stack" aria-labelledby="verdicts-title">
      <h2 id="verdicts-title">Verdicts</h2>
      {scored.length === 0 ? <p class="dim">No evaluator has scored this run.</p> : null}
      <ul class="verdict-cards">
        {cards.map((verdict) => (
          <li key={verdict.name}>
            <VerdictCard verdict={verdict} run={run} nameOf={nameOf} onOpen={onOpen} />
          </li>
        ))}
      </ul>
      {passes.length === 0 ? null : (
        <details>
          <summary>{passes.length} passed</summary>
          <ul class="verdict-cards">
            {passes.map((verdict) => (
              <li key={verdict.name}>
                <VerdictCard verdict={verdict} run={run} nameOf={nameOf} onOpen={onOpen} />
              </li>
            ))}
          </ul>
        </details>
      )}
      {rest.length === 0 ? null : <NotScored entries={rest} />}
    </section>
  );
}

function VerdictCard({ verdict, run, nameOf, onOpen }: Omit<VerdictCardsProps, 'run'> & { readonly verdict: Verdict; readonly run: Run }) {
  const { score, threshold, explanation = '', reason, revision, version, evaluator, name, sample_probability: probability } = verdict;
  const links = evidenceLinks(verdict, run.tool_calls ?? [], nameOf);
  const isOlder = revision < run.revision && verdict.details?.['session'] === undefined;
  return (
    <article class={`verdict-card ${cardClass(verdict)}`}>
      <p class="row spread">
        <VerdictChip verdict={verdict} />
        {score === null ? null : (
          <span class="score">
            {scoreText(score, threshold)}
            <span class="dim small">
              {threshold === null || threshold === undefined ? ' no threshold' : ` of ${scoreText(threshold)} needed`}
            </span>
          </span>
        )}
      </p>
      <LongText text={explanation === '' ? (reason ?? 'The evaluator gave no explanation.') : explanation} charsMax={320} />
      {links.length === 0 || onOpen === undefined ? null : (
        <ul class="evidence" aria-label={`Evidence of ${name}`}>
          {links.slice(0, linksMax).map(({ label, spanId, call, text }) => (
            <li key={`${spanId} ${call}`}>
              <button type="button" class="plain small" title={text} onClick={() => onOpen({ spanId, call })}>
                → {label}
              </button>
            </li>
          ))}
          {links.length > linksMax ? <li class="dim small">and {links.length - linksMax} more</li> : null}
        </ul>
      )}
      <Judge verdict={verdict} run={run} />
      {isOlder ? (
        <p class="note small">
          About revision {revision}. The run is at revision {run.revision}.
        </p>
      ) : null}
      <details>
        <summary class="dim small">
          Evaluator {evaluator}, version {version}
          {probability === undefined || probability === 1 ? '' : `, sampled with ${percentText(probability)}`}
        </summary>
        <JsonView value={verdict.details ?? {}} label={`Details of ${name}`} />
      </details>
    </article>
  );
}

function cardClass({ status, passed }: Verdict): string {
  return status === 'failed' ? 'error' : passed === false ? 'fail' : passed === true ? 'pass' : 'raw';
}

function Judge({ verdict, run }: { readonly verdict: Verdict; readonly run: Run }) {
  const facts = judgeFacts(verdict.details);
  if (facts === undefined) return null;
  const { model, inputTokens, outputTokens, costUsd, confidence, cached, answer, ballots, decidedBy } = facts;
  return (
    <div class="judge small">
      <p>
        <span class="dim">Judge</span> {model ?? 'unknown model'}
        {inputTokens === undefined ? null : (
          <span class="dim">
            {' '}
            · {countText(inputTokens)} + {countText(outputTokens)} tokens
          </span>
        )}
        {costUsd === undefined ? null : <span class="dim"> · {costText(costUsd)}</span>}
        {confidence === undefined ? null : <span class="dim"> · {percentText(confidence)} sure</span>}
        {cached ? <span class="dim"> · answer from the cache</span> : null}
      </p>
      <Question run={run} name={verdict.name} />
      {answer === undefined ? null : (
        <details>
          <summary>Answer of the judge</summary>
          <LongText text={answer} />
        </details>
      )}
      {ballots.length === 0 ? null : (
        <details>
          <summary>
            {ballots.length} votes{decidedBy === undefined ? '' : `, decided by ${decidedBy}`}
          </summary>
          <ul class="ballots">
            {ballots.map((ballot, at) => (
              <li key={at}>
                <strong>{ballot.judge}</strong> {ballot.outcome}
                {ballot.explanation === '' ? null : <span class="dim">: {ballot.explanation}</span>}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

/** Made again when it is opened: the store keeps no questions. */
function Question({ run, name }: { readonly run: Run; readonly name: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Question to the judge</summary>
      {isOpen ? <QuestionText run={run} name={name} /> : null}
    </details>
  );
}

const noQuestion: { readonly [reason: string]: string } = {
  not_configured: 'The configuration has no evaluator of this name any more.',
  no_judge: 'The evaluator asks no judge about this run.',
  of_session: 'The evaluator asks about the whole session.',
  no_spans: 'The store has no spans of the run.',
  too_large: 'The trace of the run is too large to make the question again.',
  not_in_spans: 'The spans make no such run under the configuration in force.',
  skipped: 'The evaluator would skip the run under the configuration in force.',
};

function QuestionText({ run, name }: { readonly run: Run; readonly name: string }) {
  const found = useGet('/runs/{trace}/{span}/questions/{name}', {
    path: { trace: run.trace_id, span: run.span_id, name },
    query: { tenant: run.tenant },
  });
  const { value } = found;
  if (value === undefined || found.error !== undefined) return <AnswerState of={found} what="the question" />;
  const { question, reason } = value;
  if (question === null) return <p class="dim">{noQuestion[reason ?? ''] ?? 'There is no question.'}</p>;
  return (
    <div class="stack">
      <p class="dim">As the configuration in force asks{question.first_of_several ? '; the evaluator may ask more questions' : ''}.</p>
      <LongText text={question.instruction} charsMax={600} />
      {question.data.map(({ title, text }, at) => (
        <section key={at}>
          <h3>{title}</h3>
          <LongText text={text} charsMax={600} />
        </section>
      ))}
    </div>
  );
}

function NotScored({ entries }: { readonly entries: ReturnType<typeof notScored> }) {
  const open = entries.filter(({ todo }) => todo !== undefined);
  return (
    <details class="not-scored">
      <summary>
        {entries.length} {entries.length === 1 ? 'evaluator has' : 'evaluators have'} no verdict
        {open.length === 0 ? '' : `, ${open.length} of them can get one`}
      </summary>
      <dl>
        {entries.map(({ name, evaluator, word, reason, todo, places }) => (
          <div key={name}>
            <dt>
              <strong>{name}</strong>
              {evaluator === name ? null : <span class="dim small"> {evaluator}</span>} <span class="chip">{word}</span>
            </dt>
            <dd>
              {reason}
              {todo === undefined ? null : (
                <>
                  {' '}
                  <strong>
                    <DocText text={todo} />
                  </strong>
                </>
              )}
              {places.length === 0 ? null : (
                <span class="dim small">
                  {' '}
                  Searched in: <code>{places.join(', ')}</code>
                </span>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
