/** Export of one version: each form, and what it leaves out. */
import { useGet } from '../../api/use-api.ts';
import { addressOf } from '../../api/client.ts';
import { AnswerState } from '../../parts/answer-state.tsx';
import { Dialog } from '../../parts/dialog.tsx';

export interface ExportDialogProps {
  readonly name: string;
  readonly tenant: string;
  readonly version: number;
  /** Filter of the page, which the file follows. */
  readonly split: string | undefined;
  readonly tag: string | undefined;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function ExportDialog({ isOpen, onClose, ...of }: ExportDialogProps) {
  return (
    <Dialog title={`Export ${of.name}, version ${of.version}`} isOpen={isOpen} onClose={onClose}>
      <Forms {...of} />
    </Dialog>
  );
}

function Forms({ name, tenant, version, split, tag }: Omit<ExportDialogProps, 'isOpen' | 'onClose'>) {
  const query = { tenant, version, split, tag };
  const found = useGet('/datasets/{name}/forms', { path: { name }, query });
  const { value } = found;
  if (value === undefined || found.error !== undefined) return <AnswerState of={found} what="the forms" />;
  const parts = [
    `${value.examples} ${value.examples === 1 ? 'example' : 'examples'}`,
    ...(split === undefined ? [] : [`split ${split}`]),
    ...(tag === undefined ? [] : [`tag ${tag}`]),
  ];
  return (
    <div class="stack">
      <p class="dim">{parts.join(', ')}</p>
      <ul class="forms">
        {value.forms.map(({ name: form, summary, ending, left_out: left }) => (
          <li key={form}>
            <a class="button" download href={addressOf('/datasets/{name}/export', { path: { name }, query: { ...query, format: form } })}>
              {form}.{ending}
            </a>
            <span class="text">
              {summary}
              {left.length === 0 ? null : (
                <span class="dim small"> Leaves out {left.map(({ member, examples }) => `${member} (${examples})`).join(', ')}.</span>
              )}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
