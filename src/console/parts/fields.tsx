/** Fields of forms: a label, the control, and below it a hint or what is wrong. */
import { useId } from 'preact/hooks';
import '../styles/forms.css';

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  /** The fault of the value; replaces the hint. */
  readonly fault?: string | undefined;
}

export interface TextFieldProps extends FieldProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly charsMax?: number;
  /** Values that the field offers. */
  readonly options?: readonly string[];
  /** Rows of a field of several lines. */
  readonly rows?: number;
  /** True for JSON or other code, in a font of one width. */
  readonly isCode?: boolean;
  readonly isReadOnly?: boolean;
}

export function TextField({
  label,
  hint,
  fault,
  value,
  onChange,
  charsMax,
  options = [],
  rows,
  isCode = false,
  isReadOnly = false,
}: TextFieldProps) {
  const id = useId();
  const text = fault ?? hint;
  const shared = {
    id,
    value,
    readOnly: isReadOnly,
    ...(charsMax === undefined ? {} : { maxLength: charsMax }),
    ...(text === undefined ? {} : { 'aria-describedby': `${id}-hint` }),
    ...(fault === undefined ? {} : { 'aria-invalid': true as const }),
  };
  return (
    <div class="form-field">
      <label for={id}>{label}</label>
      {rows === undefined ? (
        <input
          {...shared}
          type="text"
          dir="auto"
          autocomplete="off"
          {...(options.length === 0 ? {} : { list: `${id}-options` })}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      ) : (
        <textarea
          dir="auto"
          {...shared}
          rows={rows}
          class={isCode ? 'mono' : undefined}
          spellcheck={!isCode}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
      {options.length === 0 ? null : (
        <datalist id={`${id}-options`}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
      <Hint id={`${id}-hint`} hint={hint} fault={fault} />
    </div>
  );
}

export interface ChoiceFieldProps extends FieldProps {
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly title: string }[];
  readonly onChange: (value: string) => void;
}

export function ChoiceField({ label, hint, fault, value, options, onChange }: ChoiceFieldProps) {
  const id = useId();
  return (
    <div class="form-field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        {...(fault === undefined && hint === undefined ? {} : { 'aria-describedby': `${id}-hint` })}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.title}
          </option>
        ))}
      </select>
      <Hint id={`${id}-hint`} hint={hint} fault={fault} />
    </div>
  );
}

export interface CheckFieldProps {
  readonly label: string;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}

export function CheckField({ label, isChecked, onChange }: CheckFieldProps) {
  return (
    <label class="check-field">
      <input type="checkbox" checked={isChecked} onChange={(event) => onChange(event.currentTarget.checked)} />
      {label}
    </label>
  );
}

function Hint({ id, hint, fault }: { readonly id: string } & Pick<FieldProps, 'hint' | 'fault'>) {
  if (fault !== undefined)
    return (
      <span id={id} class="hint fault" role="alert">
        <span aria-hidden="true">! </span>
        {fault}
      </span>
    );
  return hint === undefined ? null : (
    <span id={id} class="hint">
      {hint}
    </span>
  );
}
