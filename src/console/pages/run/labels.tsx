/** Labels of people on a run: those that are there, and a new one by a key. */
import { useContext, useMemo, useState } from 'preact/hooks';
import { ApiFailure, type Schemas } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { AppContext } from '../../parts/app-context.ts';
import { scoreText, timeText } from '../../parts/format.ts';
import { useKeys } from '../../parts/keyboard.tsx';
import { labelChoices, labelNames } from '../../parts/run/label-choices.ts';
import { useMay } from '../../parts/session.tsx';
import { useToast } from '../../parts/toast.tsx';
import type { PlacedCall } from './run-calls.ts';

type Run = Schemas['Run'];

export interface LabelsProps {
  readonly run: Run;
  /** Annotator of the person at the page. */
  readonly by: string;
  /** The tool call that is selected: a label may be about it. */
  readonly selected: PlacedCall | undefined;
  readonly onChanged: () => void;
}

const wholeRun = '';

export function Labels({ run, by, selected, onChanged }: LabelsProps) {
  const api = useApi();
  const toast = useToast();
  const names = useMemo(() => labelNames(run), [run]);
  const { labelName } = useContext(AppContext);
  const [name, setName] = useState(labelName.current ?? names[0] ?? 'quality');
  const [comment, setComment] = useState('');
  const [isOfCall, setOfCall] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const choices = labelChoices(run, name);
  const call = callOf(selected);

  const done = async (work: () => Promise<string>): Promise<void> => {
    if (isBusy) return;
    setBusy(true);
    try {
      toast(await work());
      onChanged();
    } catch (error) {
      toast(error instanceof ApiFailure ? `${error.message} ${error.todo}` : 'The label was not stored.', 'failed');
    } finally {
      setBusy(false);
    }
  };
  const give = (label: string): void =>
    void done(async () => {
      const { annotations } = await api.send('POST /annotations', {
        body: {
          annotations: [
            {
              trace_id: run.trace_id,
              span_id: run.span_id,
              tenant: run.tenant,
              name: name.trim(),
              by,
              kind: 'human',
              label,
              ...(comment.trim() === '' ? {} : { explanation: comment.trim() }),
              ...(isOfCall && call !== undefined ? { tool_call: call.id } : {}),
            },
          ],
        },
      });
      const fault = annotations[0]?.error;
      if (fault !== null && fault !== undefined) throw new ApiFailure({ status: 422, ...fault });
      setComment('');
      return `${name}: ${label}.`;
    });
  const choose = (chosen: string): void => {
    labelName.current = chosen.trim() === '' ? undefined : chosen;
    setName(chosen);
  };
  const remove = (id: string): void =>
    void done(async () => {
      await api.send('DELETE /annotations/{id}', { path: { id } });
      return 'The label is removed.';
    });
  const mayLabel = useMay('annotate');
  useKeys(
    (mayLabel ? choices : []).map((label, at) => ({ key: String(at + 1), does: `Labels ${name} as ${label}`, run: () => give(label) })),
  );

  return (
    <section class="stack labels" aria-labelledby="labels-title">
      <h2 id="labels-title">Labels</h2>
      <Given run={run} by={by} onRemove={remove} />
      {mayLabel ? null : <p class="dim small">Labels need a token that may annotate.</p>}
      <div class="row label-form" hidden={!mayLabel}>
        <label>
          About <input type="text" list="label-names" value={name} maxLength={200} onInput={(event) => choose(event.currentTarget.value)} />
        </label>
        <datalist id="label-names">
          {names.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
        {call === undefined ? null : (
          <label>
            Of{' '}
            <select value={isOfCall ? call.id : wholeRun} onChange={(event) => setOfCall(event.currentTarget.value !== wholeRun)}>
              <option value={wholeRun}>the whole run</option>
              <option value={call.id}>{call.title}</option>
            </select>
          </label>
        )}
        {choices.map((label, at) => (
          <button key={label} type="button" disabled={isBusy || name.trim() === ''} onClick={() => give(label)}>
            <kbd aria-hidden="true">{at + 1}</kbd> {label}
          </button>
        ))}
        <label class="comment">
          Comment{' '}
          <input
            type="text"
            value={comment}
            maxLength={4_000}
            dir="auto"
            placeholder="Why"
            onInput={(event) => setComment(event.currentTarget.value)}
          />
        </label>
      </div>
    </section>
  );
}

function callOf(selected: PlacedCall | undefined): { readonly id: string; readonly title: string } | undefined {
  if (selected === undefined) return undefined;
  const { index, call } = selected;
  const id = call.span_id ?? call.id;
  return id === null ? undefined : { id, title: `${call.name} (call ${index + 1})` };
}

function Given({ run, by, onRemove }: { readonly run: Run; readonly by: string; readonly onRemove: (id: string) => void }) {
  const annotations = run.annotations ?? [];
  if (annotations.length === 0) return null;
  return (
    <ul class="given-labels">
      {annotations.map((one) => (
        <li key={one.id} class="row">
          <strong>{one.name}</strong>
          <span class={`chip ${chipClass(one)}`}>{labelText(one)}</span>
          {one.tool_call === null ? null : <span class="dim small">tool call {one.tool_call}</span>}
          <span class="dim small">
            {one.by}
            {one.kind === 'human' ? '' : ` (${one.kind})`}, {timeText(one.at)}
          </span>
          {one.explanation === '' ? null : <bdi>{one.explanation}</bdi>}
          {one.by === by ? (
            <button type="button" class="plain small" onClick={() => onRemove(one.id)}>
              Remove<span class="visually-hidden"> the label {one.name}</span>
            </button>
          ) : null}
        </li>
      ))}
    </ul>
  );
}

type Annotation = Schemas['Annotation'];

function labelText({ label, passed, score }: Annotation): string {
  return [label, ...(label === null && passed !== null ? [passed ? 'pass' : 'fail'] : []), ...(score === null ? [] : [scoreText(score)])]
    .filter((part) => part !== null)
    .join(' ');
}

function chipClass({ label, passed }: Annotation): string {
  return passed === true || label === 'pass' ? 'pass' : passed === false || label === 'fail' ? 'fail' : '';
}
