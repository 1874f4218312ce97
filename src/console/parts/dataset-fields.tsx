/** The fields that say where new examples go: the dataset, the split and the tags. */
import { TextField } from './fields.tsx';

export interface DatasetFieldProps {
  readonly value: string;
  readonly hint: string;
  readonly fault: string | undefined;
  /** Names that the field offers. */
  readonly options?: readonly string[];
  readonly onChange: (name: string) => void;
}

export function DatasetField(props: DatasetFieldProps) {
  return <TextField label="Dataset" charsMax={100} {...props} />;
}

export interface SplitAndTagsProps {
  readonly split: string;
  readonly tags: string;
  readonly splitHint?: string;
  readonly tagsHint?: string;
  readonly onChange: (changes: { readonly split?: string; readonly tags?: string }) => void;
}

export function SplitAndTags({
  split,
  tags,
  splitHint = 'Part of the dataset, as train or test. May stay empty.',
  tagsHint = 'Separated by commas. May stay empty.',
  onChange,
}: SplitAndTagsProps) {
  return (
    <>
      <TextField label="Split" hint={splitHint} value={split} charsMax={200} onChange={(given) => onChange({ split: given })} />
      <TextField label="Tags" hint={tagsHint} value={tags} charsMax={1_000} onChange={(given) => onChange({ tags: given })} />
    </>
  );
}
