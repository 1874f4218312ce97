/** Filters of a page, bound to its address. A text counts when the field is left, or with Enter. */
import { useState } from 'preact/hooks';
import type { Filter } from './filter.ts';
import { useAddress } from './use-address.ts';

export type { Filter };

export function FilterBar({ filters, label = 'Filters' }: { readonly filters: readonly Filter[]; readonly label?: string }) {
  const { query, change } = useAddress();
  const [isOpen, setOpen] = useState(false);
  const shown = filters.filter(({ name, isMore }) => isMore !== true || isOpen || (query[name] ?? '') !== '');
  const given = filters.filter(({ name }) => (query[name] ?? '') !== '');
  return (
    <form
      class="filters"
      role="search"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        change(Object.fromEntries(shown.map(({ name }) => [name, textOf(fields.get(name))])));
      }}
    >
      {shown.map((filter) => (
        <Field key={filter.name} filter={filter} value={query[filter.name] ?? ''} onChange={(value) => change({ [filter.name]: value })} />
      ))}
      {given.length === 0 ? null : (
        <button type="button" onClick={() => change(Object.fromEntries(given.map(({ name }) => [name, undefined])))}>
          Clear {given.length === 1 ? 'the filter' : `${given.length} filters`}
        </button>
      )}
      {filters.some(({ isMore }) => isMore === true) ? (
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Fewer filters' : 'More filters'}
        </button>
      ) : null}
      <button type="submit" class="visually-hidden" tabIndex={-1}>
        Apply
      </button>
    </form>
  );
}

interface FieldProps {
  readonly filter: Filter;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function Field({ filter: { name, title, kind, options = [], noChoice = 'any', placeholder = '' }, value, onChange }: FieldProps) {
  const id = `filter-${name}`;
  // Typed text stays while the page draws itself anew, until the address has another value. An effect would also run after the first drawing, and take away the first keys.
  const [field, setField] = useState<{ readonly value: string; readonly typed?: string }>({ value });
  if (field.value !== value) setField({ value });
  return (
    <div class="field">
      <label for={id}>{title}</label>
      {kind === 'choice' ? (
        <select id={id} name={name} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          <option value="">{noChoice}</option>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.title}
            </option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          name={name}
          type={kind}
          value={field.typed ?? value}
          placeholder={placeholder}
          autocomplete="off"
          dir="auto"
          {...(kind === 'number' ? { min: 0, step: 'any' } : { maxLength: 1_000 })}
          {...(kind === 'search' ? { 'data-search': '' } : {})}
          {...(options.length > 0 ? { list: `${id}-list` } : {})}
          onInput={(event) => setField({ value, typed: event.currentTarget.value })}
          onChange={(event) => onChange(event.currentTarget.value.trim())}
        />
      )}
      {kind !== 'choice' && options.length > 0 ? (
        <datalist id={`${id}-list`}>
          {options.map((option) => (
            <option key={option.value} value={option.value} />
          ))}
        </datalist>
      ) : null}
    </div>
  );
}

function textOf(value: FormDataEntryValue | null): string {
  return typeof value === 'string' ? value.trim() : '';
}
