/** Every member of a family is in its table, has its id from its file name, and has a test and a place in the documentation. */
import { posix } from 'node:path';
import { at, isProduct, nodesOf, type Rule, type SourceFile } from './source.ts';

interface Family {
  readonly folder: string;
  /** The type that members satisfy. */
  readonly contract: RegExp;
  /** A member that a builder completes: the name of its constant, and its id. One file may declare several. */
  readonly declared?: RegExp;
  /** The place that must describe a member; undefined for anywhere in docs/. */
  readonly page?: string;
  /** Each has its own heading on the page, not only a mention. */
  readonly heading?: true;
}

const families: readonly Family[] = [
  {
    folder: 'evaluators',
    contract: /(?:satisfies|: )\s*(?:Rule|Judge|Http)Evaluator\b/,
    declared: /^export const (\w+) = \w+\(\s*(?:\{\s*)+id: '(\w+)',$/gm,
    page: 'docs/reference/evaluators.md',
    heading: true,
  },
  { folder: 'collectors', contract: /(?:satisfies|: )\s*Collector\b(?! *\|)/, page: 'docs/reference/dialects.md' },
  { folder: 'src/exporters', contract: /(?:satisfies|\):) (?:Exporter|NativeBackend)\b/ },
  { folder: 'src/judges', contract: /(?:satisfies|\):) Judge\b/ },
  { folder: 'src/journals', contract: /(?:satisfies|\):) (?:Promise<)?Journal\b/, page: 'docs/explanation/journal.md', heading: true },
  { folder: 'src/receivers', contract: /(?:satisfies|\):) (?:Promise<)?Receiver\b/ },
];

interface Member {
  readonly family: Family;
  readonly file: SourceFile;
  /** The file's name without its ending. */
  readonly name: string;
  readonly id: string;
  /** The constant that a builder completes; undefined: the file is the member. */
  readonly constant?: string;
}

export const membersAreInTheirTable: Rule = (files) =>
  membersOf(files).flatMap(({ family, file }) => {
    const table = files.find((other) => other.path === `${family.folder}/index.ts`);
    return table === undefined || table.text.includes(`'.${file.path.slice(family.folder.length)}'`)
      ? []
      : [`${file.path}: is not in ${table.path}`];
  });

/** Files are kebab-case, ids the same in snake_case. A constant of a member is its id in camelCase. */
export const membersAreNamedAsTheirFile: Rule = (files) =>
  membersOf(files)
    .filter(({ family }) => !family.folder.startsWith('src/'))
    .filter(({ file, id, constant }) =>
      constant === undefined
        ? !file.text.includes(`id: '${id}'`)
        : constant !== id.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
    )
    .map(({ file, id }) => `${file.path}: its id is not ${id}`);

export const membersAreTested: Rule = (files) => {
  const paths = files.map((file) => file.path);
  return membersOf(files).flatMap(({ family, file, name }) => {
    const folder = `test/${posix.basename(family.folder)}`;
    const tested = paths.some(
      (path) =>
        path.startsWith(`${folder}/`) &&
        path.endsWith('.test.ts') &&
        path.split('/').some((part) => part === name || part === `${name}.test.ts`),
    );
    return tested ? [] : [`${file.path}: has no ${folder}/${name}.test.ts`];
  });
};

export const membersAreDocumented: Rule = (files) =>
  membersOf(files).flatMap(({ family, file, name, id }) => {
    const pages = files.filter((page) =>
      family.page === undefined ? page.path.startsWith('docs/') && page.path.endsWith('.md') : page.path === family.page,
    );
    const mention = new RegExp(`${family.heading === true ? '^#+ .*' : ''}(?<![\\w-])(${id}|${name})(?![\\w-])`, 'm');
    return pages.some((page) => mention.test(page.text)) ? [] : [`${file.path}: is not described in ${family.page ?? 'docs/'}`];
  });

/** The name of a dialect outside its own file is a special case that belongs into the collector's contract. */
export const dialectsAreNamedAtHome: Rule = (files) => {
  const homes = new Map(
    membersOf(files)
      .filter(({ family }) => family.folder === 'collectors')
      .flatMap(
        ({ file, name, id }) =>
          [
            [id, file.path],
            [name, file.path],
          ] as const,
      ),
  );
  return (
    files
      // An exporter is called after its backend, which may have an SDK.
      .filter(
        (file) =>
          isProduct(file) &&
          file.path !== 'collectors/index.ts' &&
          file.path !== 'src/config/sections/export.ts' &&
          !file.path.startsWith('src/exporters/') &&
          // Likewise a form of test sets after its program.
          !file.path.startsWith('src/datasets/forms/') &&
          // A command may be called after a protocol that has a dialect.
          file.path !== 'src/cli/commands/index.ts' &&
          // The console offers the forms that the API names.
          !file.path.startsWith('src/console/'),
      )
      .flatMap((file) =>
        nodesOf(file).flatMap(({ node }) => {
          const home = node.type === 'Literal' && typeof node['value'] === 'string' ? homes.get(node['value']) : undefined;
          return home === undefined || home === file.path ? [] : [`${at(file, node)}: names the dialect of ${home}`];
        }),
      )
  );
};

function membersOf(files: readonly SourceFile[]): readonly Member[] {
  return families.flatMap((family) =>
    files
      .filter((file) => isIn(file.path, family) && !isContractOrTable(file.path, family))
      .flatMap((file): readonly Member[] => {
        const declared = family.declared === undefined ? [] : [...file.text.matchAll(family.declared)];
        if (declared.length > 0)
          return declared.map(([, constant = '', id = '']) => ({ family, file, name: id.replaceAll('_', '-'), id, constant }));
        const name = posix.basename(file.path, '.ts');
        return family.contract.test(file.text) ? [{ family, file, name, id: name.replaceAll('-', '_') }] : [];
      }),
  );
}

/** Evaluators and dialects are in their folder; members of the other families may be in its rooms. */
function isIn(path: string, { folder }: Family): boolean {
  return folder.startsWith('src/') ? path.startsWith(`${folder}/`) : posix.dirname(path) === folder;
}

function isContractOrTable(path: string, { folder }: Family): boolean {
  return path === `${folder}/index.ts` || path === `${folder}/${posix.basename(folder).slice(0, -1)}.ts` || !path.endsWith('.ts');
}
