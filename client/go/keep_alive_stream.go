package tenure

import (
	"context"

	pb "tenure/v1"
)

// One renewal is under way at a time, so more than this never waits to be sent.
const renewalsMax = 4

// keepAliveStream is one KeepAlive stream, as a source of messages.
type keepAliveStream struct {
	requests chan *pb.KeepAliveRequest
	close    context.CancelFunc
}

// openKeepAlive does not wait. The functions are called one at a time; none is after `closed`.
func openKeepAlive(client pb.ElectionServiceClient, message func(*pb.KeepAliveResponse), closed func()) *keepAliveStream {
	ctx, cancel := context.WithCancel(context.Background())
	s := &keepAliveStream{requests: make(chan *pb.KeepAliveRequest, renewalsMax), close: cancel}
	go func() {
		defer closed()
		defer cancel()
		stream, err := client.KeepAlive(ctx)
		if err != nil {
			return
		}
		go s.send(ctx, stream)
		for {
			response, err := stream.Recv()
			if err != nil {
				return
			}
			message(response)
		}
	}()
	return s
}

func (s *keepAliveStream) send(ctx context.Context, stream pb.ElectionService_KeepAliveClient) {
	for {
		select {
		case request := <-s.requests:
			if stream.Send(request) != nil {
				return // Recv knows why
			}
		case <-ctx.Done():
			return
		}
	}
}
