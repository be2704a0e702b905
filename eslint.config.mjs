import eslint from '@eslint/js';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

export default defineConfig(
  // AssemblyScript's compiler checks src/rows/assembly, which is no TypeScript.
  {
    ignores: [
      'dist*/',
      'src/generated/',
      'test/frontend/src/gql/',
      '**/__generated__/',
      'src/rows/assembly/',
      '.data/',
      'coverage/',
      '**/*.mjs',
      '**/*.js',
    ],
  },
  eslint.configs.recommended,
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: { allowDefaultProject: ['prisma.config.ts'] } } },
    rules: {
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true }],
      '@typescript-eslint/no-meaningless-void-operator': 'off',
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // TypeGraphQL's classes only describe shapes, so a plain object of the same shape may stand for an instance.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      'no-restricted-syntax': [
        'error',
        {
          selector: 'CallExpression[callee.property.name=/^\\$(queryRawUnsafe|executeRawUnsafe)$/]',
          message: 'SQL is never built from what a caller sent.',
        },
      ],
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/main.ts', 'src/cli/**', 'src/playground/web/**'],
    rules: {
      'no-console': 'error',
      'no-restricted-globals': ['error', { name: 'process', message: 'Only main.ts and the CLI touch the process.' }],
      'no-restricted-imports': [
        'error',
        { name: 'node:process', allowImportNames: ['nextTick'], message: 'Only main.ts and the CLI touch the process.' },
      ],
    },
  },
  {
    // The embedded PostgreSQL is a separate process. These files start it, find it by its id and end it.
    files: ['src/data/embedded/*.ts'],
    rules: { 'no-restricted-imports': 'off' },
  },
);
