/* demangle.h - function names of C++ and Rust as their programmers wrote them. */
#ifndef MPROF_TOOLS_DEMANGLE_H
#define MPROF_TOOLS_DEMANGLE_H

/* The readable form of a symbol, as `go tool pprof` shows it: "std::vector::push_back" for C++, without parameters,
 * return type and template arguments; "<alloc::vec::Vec<>>::push" for Rust; any other name as it is.
 * The result is to be freed; the process ends when memory does. */
char *demangle(const char *symbol);

#endif
