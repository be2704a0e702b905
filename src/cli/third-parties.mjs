export const listPackages = () => ({ name: 'list-packages' });
