module ipclab/multiplexer

go 1.24
