export default ({ children }) => children;
