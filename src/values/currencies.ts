/** True for the code of a currency (ISO 4217), such as `EUR`. */
export const isCurrency = (code: string): boolean => Intl.supportedValuesOf('currency').includes(code);
