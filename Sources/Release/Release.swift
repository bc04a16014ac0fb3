/// The version of the commands, the libraries and the packages.
package let release = "0.1.0"
