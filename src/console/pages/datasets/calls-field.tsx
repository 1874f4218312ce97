/** The expected tool calls: none are checked, none may happen, or a list of calls in order. */
import { useId } from 'preact/hooks';
import { TextField } from '../../parts/fields.tsx';
import type { CallFields, ExampleForm } from './example-form.ts';

export interface CallsFieldProps {
  readonly form: Pick<ExampleForm, 'calls' | 'callList'>;
  readonly fault: string | undefined;
  readonly change: (changes: Partial<ExampleForm>) => void;
}

const choices: readonly { readonly value: ExampleForm['calls']; readonly title: string }[] = [
  { value: 'unchecked', title: 'Tool calls are not checked' },
  { value: 'none', title: 'No tool is called' },
  { value: 'listed', title: 'These calls, in this order' },
];

export function CallsField({ form: { calls, callList }, fault, change }: CallsFieldProps) {
  const id = useId();
  const put = (at: number, changes: Partial<CallFields>): void =>
    change({ callList: callList.map((call, index) => (index === at ? { ...call, ...changes } : call)) });
  return (
    <fieldset class="stack calls" aria-describedby={fault === undefined ? undefined : `${id}-fault`}>
      <legend>Tool calls</legend>
      <div class="row">
        {choices.map(({ value, title }) => (
          <label key={value} class="check-field">
            <input
              type="radio"
              name={`${id}-calls`}
              checked={calls === value}
              onChange={() => change({ calls: value, ...(value === 'listed' && callList.length === 0 ? { callList: [newCall] } : {}) })}
            />
            {title}
          </label>
        ))}
      </div>
      {fault === undefined ? null : (
        <span id={`${id}-fault`} class="hint fault" role="alert">
          <span aria-hidden="true">! </span>
          {fault}
        </span>
      )}
      {calls === 'listed' ? (
        <>
          <ol class="call-list">
            {callList.map((call, at) => (
              <li key={at} class="call">
                <TextField label={`Tool of call ${at + 1}`} value={call.name} charsMax={1_000} onChange={(name) => put(at, { name })} />
                <TextField
                  label="Arguments (JSON; empty: any)"
                  value={call.arguments}
                  rows={Math.min(10, Math.max(2, call.arguments.split('\n').length))}
                  isCode
                  onChange={(sent) => put(at, { arguments: sent })}
                />
                <div class="row">
                  <button
                    type="button"
                    aria-label={`Move call ${at + 1} up`}
                    disabled={at === 0}
                    onClick={() => change({ callList: swapped(callList, at - 1) })}
                  >
                    ↑
                  </button>
                  <button
                    type="button"
                    aria-label={`Move call ${at + 1} down`}
                    disabled={at === callList.length - 1}
                    onClick={() => change({ callList: swapped(callList, at) })}
                  >
                    ↓
                  </button>
                  <button
                    type="button"
                    aria-label={`Remove call ${at + 1}`}
                    onClick={() => change({ callList: callList.filter((_, index) => index !== at) })}
                  >
                    Remove
                  </button>
                </div>
              </li>
            ))}
          </ol>
          <div>
            <button type="button" onClick={() => change({ callList: [...callList, newCall] })}>
              Add a call
            </button>
          </div>
        </>
      ) : null}
    </fieldset>
  );
}

const newCall: CallFields = { name: '', arguments: '', rest: {} };

/** The call at this place and the one after it change places. */
function swapped(calls: readonly CallFields[], at: number): readonly CallFields[] {
  const [one, next] = [calls[at], calls[at + 1]];
  return one === undefined || next === undefined ? calls : [...calls.slice(0, at), next, one, ...calls.slice(at + 2)];
}
