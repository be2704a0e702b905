import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

const hereOnly = (files, rules) => ({ files, rules });

export default tseslint.config(
  { ignores: ['dist/', 'src/generated/', '.data/', 'coverage/', '**/*.mjs', '**/*.js'] },
  eslint.configs.recommended,
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true }],
      // TypeGraphQL's classes are shapes; plain objects of that shape are as good.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/require-await': 'off',
      'no-restricted-syntax': [
        'error',
        {
          selector: 'CallExpression[callee.property.name=/^\\$(queryRawUnsafe|executeRawUnsafe)$/]',
          message: 'SQL is never built from strings at run time.',
        },
      ],
    },
  },
  hereOnly(['src/**/*.ts'], {
    'no-restricted-globals': ['error', { name: 'process', message: 'Only main.ts and the CLI touch the process.' }],
    'no-console': 'error',
  }),
  hereOnly(['src/main.ts', 'src/cli/**/*.ts'], { 'no-restricted-globals': 'off' }),
);
