/// The version of the command and of the libraries.
package let release = "0.1.0"
